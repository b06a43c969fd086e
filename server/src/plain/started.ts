/** What has been started, and how each part of it is stopped: the last one first, because it stands on those before it. */
export interface Started {
  add(stop: () => unknown): void
  /** Stops every part once, whatever becomes of the others; tells the first failure when all are through. */
  stop(): Promise<void>
}

/** Starts part after part; should one fail in the middle, those before it are stopped. */
export async function startAll<Whole>(start: (started: Started) => Promise<Whole>): Promise<Whole> {
  const started = nothingStarted()
  try {
    return await start(started)
  } catch (error) {
    // Why it could not be started says more than what was left of it.
    await started.stop().catch(() => {})
    throw error
  }
}

function nothingStarted(): Started {
  const stops: (() => unknown)[] = []
  let stopping: Promise<void> | undefined

  async function stopAll(): Promise<void> {
    const failures: unknown[] = []
    for (let stop = stops.pop(); stop; stop = stops.pop()) {
      try {
        await stop()
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
  }

  return {
    add: (stop) => void stops.push(stop),
    stop: () => {
      stopping ??= stopAll()
      return stopping
    },
  }
}
