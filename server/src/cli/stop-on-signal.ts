import type { Logger } from 'pino'
import type { Service } from '../compose.ts'

const exitForced = 1

/** The first signal drains; a second one does not wait. */
export function stopOnSignal(service: Service, atStop: (() => void)[], log: Logger, closeLog: () => void): void {
  let stopping = false
  const stop = async () => {
    if (stopping) process.exit(exitForced)
    stopping = true
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
