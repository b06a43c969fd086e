/**
 * One of all tabs of a person leads: the one that was used last, or, when that is closed, another. So something is told once,
 * and by the tab that knows best what the person is looking at.
 */

export interface LeadTab {
  isLead(): boolean
  stop(): void
}

export function leadTab(name: string): LeadTab {
  let isLead = false
  let release = () => {}
  const ending = new AbortController()

  const hold = () =>
    new Promise<void>((resolve) => {
      if (ending.signal.aborted) return resolve()
      isLead = true
      release = resolve
    })

  /** Held until this tab goes, or another takes it; then this one waits for it again. */
  function request(options: LockOptions): void {
    navigator.locks.request(name, options, hold).catch(() => {
      isLead = false
      if (!ending.signal.aborted) request({ signal: ending.signal })
    })
  }

  function take(): void {
    if (!isLead) request({ steal: true })
  }

  if (document.hasFocus()) take()
  else request({ signal: ending.signal })
  window.addEventListener('focus', take)
  return {
    isLead: () => isLead,
    stop() {
      window.removeEventListener('focus', take)
      isLead = false
      ending.abort()
      release()
    },
  }
}
