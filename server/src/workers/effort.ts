/** How long workers have been at work inside transactions; how long they waited for their turn does not count. */
export interface Effort {
  milliseconds: number
}

/** Work that is counted. */
export async function counted<T>(effort: Effort, work: () => Promise<T>): Promise<T> {
  const startedAt = performance.now()
  try {
    return await work()
  } finally {
    effort.milliseconds += performance.now() - startedAt
  }
}
