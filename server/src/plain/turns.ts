/**
 * Who may go on, where only some can at a time. Apps take turns, and so do the users of an app: whoever has had a turn goes
 * to the end of the line. Whoever asks for more at once than is sensible is refused instead of kept waiting.
 */
export interface Turns {
  /** Nothing, if too many of the app or the user are in line already. */
  lineUp(asker: Asker): PlaceInLine | undefined
}

/** Who asks; servers that act for nobody have no UID. */
export interface Asker {
  appId: string
  uid: string | undefined
}

export interface PlaceInLine {
  itsTurn: Promise<void>
  /** To be called once, whether the turn has come or not. */
  leave(): void
}

export interface TurnLimits {
  /** How many go on at a time. */
  atOnce: number
  /** How many may be in line or at their turn: of a user, of an app, and in all. */
  ofUserMax: number
  ofAppMax: number
  inAllMax: number
}

interface Line {
  asked: number
  running: number
}

interface UserLine extends Line {
  waiting: Turn[]
}

interface AppLine extends Line {
  /** In the order of their next turns; servers that act for nobody are one of them. */
  users: Map<string, UserLine>
}

interface Turn {
  app: AppLine
  user: UserLine
  begin: () => void
}

const nobody = ''

export function createTurns({ atOnce, ofUserMax, ofAppMax, inAllMax }: TurnLimits): Turns {
  // As long as several can go on, one app never has all turns, and a user has one.
  const runningOfAppMax = Math.max(1, atOnce - 1)
  /** In the order of their next turns. */
  const apps = new Map<string, AppLine>()
  const all: Line = { asked: 0, running: 0 }

  function count({ app, user }: Turn, what: keyof Line, by: number): void {
    for (const line of [all, app, user]) line[what] += by
  }

  function beginNext(): void {
    while (all.running < atOnce) {
      const turn = nextTurn()
      if (!turn) return
      count(turn, 'running', 1)
      turn.begin()
    }
  }

  function nextTurn(): Turn | undefined {
    for (const app of apps.values()) {
      if (app.running >= runningOfAppMax) continue
      for (const [uid, user] of app.users) {
        const turn = uid !== nobody && user.running > 0 ? undefined : user.waiting.shift()
        if (turn) return turn
      }
    }
    return undefined
  }

  function leave(turn: Turn): void {
    const { waiting } = turn.user
    const place = waiting.indexOf(turn)
    if (place >= 0) waiting.splice(place, 1)
    else count(turn, 'running', -1)
    count(turn, 'asked', -1)
  }

  return {
    lineUp({ appId, uid = nobody }) {
      const app = apps.get(appId) ?? { asked: 0, running: 0, users: new Map() }
      const user = app.users.get(uid) ?? { asked: 0, running: 0, waiting: [] }
      const ofUser = uid === nobody ? 0 : user.asked
      if (all.asked >= inAllMax || app.asked >= ofAppMax || ofUser >= ofUserMax) return undefined
      apps.set(appId, app)
      app.users.set(uid, user)
      const { promise: itsTurn, resolve: begin } = Promise.withResolvers<void>()
      const turn = { app, user, begin }
      user.waiting.push(turn)
      count(turn, 'asked', 1)
      beginNext()
      return {
        itsTurn,
        leave() {
          leave(turn)
          toEnd(app.users, uid, user)
          toEnd(apps, appId, app)
          beginNext()
        },
      }
    },
  }
}

/** Whoever has nothing left to wait for leaves the line. */
function toEnd<Each extends Line>(turns: Map<string, Each>, key: string, line: Each): void {
  turns.delete(key)
  if (line.asked > 0) turns.set(key, line)
}
