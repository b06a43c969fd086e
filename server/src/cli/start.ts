import { type Service, startService } from '../compose.ts'
import { createLog } from '../http/observe.ts'
import { beginLiveCalls } from '../install/demo-live.ts'
import { type Credentials, seedDemo, writeCredentials } from '../install/seed.ts'
import type { Command } from './command.ts'

export const start: Command = {
  name: 'start',
  usage: 'parley start [--demo]',
  about: 'Start the server. With --demo, a demo app with calls is created once and the emulator door is open.',
  options: { demo: { type: 'boolean' } },
  async run({ config, flags, json }) {
    const demo = flags.demo === true
    const { log, close } = createLog(config.logLevel)
    const service = await startService(demo ? { ...config, emulator: true } : config, log)
    const atStop: (() => void)[] = []
    stopOnSignal(service, atStop, close)
    if (!demo) {
      process.stdout.write(`Parley listens on https://${config.host}:${service.port} for ${config.domain}\n`)
      return undefined
    }
    const { appId } = await seedDemo(service.house)
    atStop.push(await beginLiveCalls(service.house, appId))
    const credentials = await writeCredentials(service.house, appId, service)
    process.stdout.write(json ? `${JSON.stringify(credentials)}\n` : block(credentials, config.data))
    return undefined
  },
}

function block(credentials: Credentials, folder: string): string {
  const { baseUrl, callsBaseUrl, managementUrl, appId, apiKey, authKey, caFile } = credentials
  const origin = new URL(baseUrl).origin
  return `
  Parley is running.

    Chat API     ${baseUrl}
    Calls API    ${callsBaseUrl}
    Management   ${managementUrl}
    Reference    ${origin}/docs

    App id       ${appId}
    API key      ${apiKey}   fullAccess: keep it on your server
    Auth key     ${authKey}   authOnly
    All of it    ${folder}/credentials.json

  Try it:

    curl --cacert '${caFile}' -H 'apikey: ${apiKey}' '${callsBaseUrl}/calls?perPage=1'

  Stop with Ctrl-C.

`
}

const forcedExitCode = 1

/** The first signal drains; a second one does not wait. */
function stopOnSignal(service: Service, atStop: (() => void)[], closeLog: () => void): void {
  let stopping = false
  const stop = async () => {
    if (stopping) process.exit(forcedExitCode)
    stopping = true
    for (const each of atStop) each()
    await service.stop()
    closeLog()
    process.exit(0)
  }
  process.on('SIGTERM', () => void stop())
  process.on('SIGINT', () => void stop())
}
