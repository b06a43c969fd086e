/**
 * One of all tabs of a person leads: the one that was used last, or, when that is closed, another. So something is told once,
 * and by the tab that knows best what the person is looking at.
 */

interface LeadTab {
  isLead(): boolean
  stop(): void
}

export function leadTab(name: string): LeadTab {
  let isLead = false
  let isTaking = false
  let isOver = false
  let release = () => {}
  let waiting = new AbortController()

  /** Until this tab goes, or another takes the lead. */
  const hold = () =>
    new Promise<void>((resolve) => {
      if (isOver) return resolve()
      isTaking = false
      isLead = true
      release = resolve
    })

  function wait(): void {
    isTaking = false
    isLead = false
    if (isOver) return
    waiting = new AbortController()
    const { signal } = waiting
    navigator.locks.request(name, { signal }, hold).catch(() => signal.aborted || wait())
  }

  /** One request at a time: with several, this tab would take the lead from itself. */
  function take(): void {
    if (isLead || isTaking) return
    isTaking = true
    waiting.abort()
    navigator.locks.request(name, { steal: true }, hold).catch(wait)
  }

  if (document.hasFocus()) take()
  else wait()
  window.addEventListener('focus', take)
  return {
    isLead: () => isLead,
    stop() {
      window.removeEventListener('focus', take)
      isLead = false
      isOver = true
      waiting.abort()
      release()
    },
  }
}
