import type { House } from '../compose.ts'
import type { Config } from '../config.ts'
import { createLog } from '../http/observe.ts'
import { beginLiveCalls } from '../install/demo-live.ts'
import { type DemoCredentials, seedDemo, writeCredentials } from '../install/seed.ts'
import { type Service, startService } from '../service.ts'
import type { Command } from './command.ts'
import { demoPage } from './demo-page.ts'
import { stopOnSignal } from './stop-on-signal.ts'

export const start: Command = {
  name: 'start',
  usage: ['parley start [--demo]'],
  about: 'Start the server. With --demo, a demo app is created once, and its chat page and the emulator door are open.',
  options: { demo: { type: 'boolean', about: 'Create a demo app once, open its chat page and the emulator door' } },
  showsSettings: true,
  async run({ config, flags, json }) {
    const demo = flags.demo === true
    const { log, close } = createLog(config.logLevel)
    // A driver that loses its database may reject what nobody waits for any more; that must not end the server.
    process.on('unhandledRejection', (reason) => log.error({ err: reason }, 'rejected, and nobody waited for it'))
    const known = Promise.withResolvers<DemoCredentials>()
    const service = demo
      ? await startService({ ...config, emulator: true }, log, {
          pages: [demoPage({ ...config, credentials: known.promise })],
        })
      : await startService(config, log)
    const atStop: (() => void)[] = []
    stopOnSignal(service, atStop, log, close)
    log.info({ port: service.port, data: config.data }, 'started')
    if (!demo) {
      process.stdout.write(plainBlock(service, config))
      return undefined
    }
    const { appId } = await seedDemo(service.house)
    atStop.push(await beginLiveCalls(service.house, appId))
    const credentials = await writeCredentials(service.house, appId, service)
    known.resolve(credentials)
    process.stdout.write(
      json
        ? `${JSON.stringify(credentials)}\n`
        : block(credentials, config.data, logNote(config) + clockNote(service.house)),
    )
    return undefined
  },
}

function plainBlock({ port, caFile, house }: Service, { host, domain, data }: Config): string {
  return `Parley listens on https://${host}:${port} for ${domain}; its data is in ${data}.
Clients trust ${caFile}. The reference is at https://${domain}:${port}/docs.
"parley apps create" makes an app with its keys.${clockNote(house)}
`
}

/** Whoever looks for requests among the lines should know where they are. */
function logNote({ logLevel }: Config): string {
  return logLevel === 'warn' ? '\n  Requests are not shown; "npm start -- --log-level info" shows them.' : ''
}

/** A clock that was moved and forgotten explains a good deal. */
function clockNote({ tools }: House): string {
  const ahead = tools.clock.offsetSeconds()
  return ahead === 0
    ? ''
    : `\n\n  Note: the clock is moved by ${ahead} s; DELETE /_emulator/clock returns to real time.`
}

function block(credentials: DemoCredentials, folder: string, note: string): string {
  const { pageUrl, baseUrl, callsBaseUrl, managementUrl, appId, apiKey, authKey, caFile } = credentials
  return `
  Parley is running.

    Chat page    ${pageUrl}
    Chat API     ${baseUrl}
    Calls API    ${callsBaseUrl}
    Management   ${managementUrl}
    Reference    ${new URL(baseUrl).origin}/docs

    App id       ${appId}
    API key      ${apiKey}   fullAccess: keep it on your server
    Auth key     ${authKey}   authOnly
    All of it    ${folder}/credentials.json

  Try it:

    curl --cacert '${caFile}' -H 'apikey: ${apiKey}' '${callsBaseUrl}/calls?perPage=1'

  "npm run trust" lets browsers open these addresses without a warning. Stop with Ctrl-C.${note}

`
}
