import type { Logger } from 'pino'
import type { Service } from '../service.ts'

const exitForced = 1
// One Ctrl-C, or one stop of a service, reaches the process and whoever started it, who passes it on.
const oneSignalMilliseconds = 500

/** The first signal drains; a second one does not wait. */
export function stopOnSignal(service: Service, atStop: (() => void)[], log: Logger, closeLog: () => void): void {
  let stoppingSince: number | undefined
  const stop = async () => {
    const now = performance.now()
    if (stoppingSince !== undefined) {
      if (now - stoppingSince > oneSignalMilliseconds) process.exit(exitForced)
      return
    }
    stoppingSince = now
    log.info('stopping')
    for (const each of atStop) each()
    let code = 0
    try {
      await service.stop()
      log.info('stopped')
    } catch (error) {
      log.error({ err: error }, 'stopping failed')
      code = exitForced
    }
    closeLog()
    process.exit(code)
  }
  process.on('SIGTERM', () => void stop())
  process.on('SIGINT', () => void stop())
}
