import { randomBytes } from 'node:crypto'
import type { Work } from '../../kit/work.ts'
import { oneAtATime } from '../../storage/sql.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { collaboratorAdded, collaboratorMoved, collaboratorRemoved } from './events.ts'
import type { Team } from './rules.ts'
import type { Collaborator } from './schemas.ts'
import type { CollaboratorRow } from './tables.ts'

const idBytes = 8

/** How many collaborators an app has stays within its limit only if one transaction looks at a time. */
const lockName = 'collaborators'

/** The app's collaborators, newest first. */
export function collaboratorsOf(db: TenantDb) {
  return db
    .select('collaborators')
    .selectAll()
    .orderBy('collaborators.created_at', 'desc')
    .orderBy('collaborators.email')
}

/** The collaborators, held: nobody else changes them meanwhile. */
export async function holdCollaborators(db: TenantDb): Promise<CollaboratorRow[]> {
  await oneAtATime(db, lockName)
  return collaboratorsOf(db).execute()
}

/** Makes the team what it is to be, with the invitations by address that replace earlier ones. */
export async function storeTeam(
  work: Work,
  before: CollaboratorRow[],
  team: Team,
  invitations: Map<string, string>,
): Promise<void> {
  await removeOthers(work, before, team)
  const known = new Map(before.map((row) => [row.email, row]))
  for (const [email, role] of team) {
    const row = known.get(email)
    const invitation = invitations.get(email) ?? row?.invitation ?? null
    if (!row) await addCollaborator(work, { email, role, invitation })
    else if (row.role !== role || row.invitation !== invitation) await changeCollaborator(work, row, role, invitation)
  }
}

async function removeOthers({ db, emitEach }: Work, before: CollaboratorRow[], team: Team): Promise<void> {
  const gone = before.filter(({ email }) => !team.has(email))
  if (gone.length === 0) return
  const emails = gone.map(({ email }) => email)
  await db.delete('collaborators').where('email', 'in', emails).execute()
  await emitEach(
    collaboratorRemoved,
    gone.map(({ email, role }) => ({ email, role })),
  )
}

async function addCollaborator(
  { db, now, emit }: Work,
  added: Pick<CollaboratorRow, 'email' | 'role' | 'invitation'>,
): Promise<void> {
  const id = randomBytes(idBytes).toString('hex')
  await db.insert('collaborators', { id, ...added, created_at: now }).execute()
  await emit(collaboratorAdded, { email: added.email, role: added.role })
}

async function changeCollaborator(
  { db, emit }: Work,
  before: CollaboratorRow,
  role: CollaboratorRow['role'],
  invitation: string | null,
): Promise<void> {
  await db.update('collaborators').set({ role, invitation }).where('email', '=', before.email).execute()
  if (role !== before.role) await emit(collaboratorMoved, { email: before.email, role })
}

export function toCollaborator({ id, email, role, created_at }: CollaboratorRow, name = email): Collaborator {
  return { id, name, email, role, createdAt: created_at }
}
