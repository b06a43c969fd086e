import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { House } from '../compose.ts'
import type { Config } from '../config.ts'
import { createLog } from '../http/observe.ts'
import { startService } from '../service.ts'
import { exportLines, type Trial, trialEnvironment, trialNames, trialText } from '../trial/instructions.ts'
import { openTrialProxy, type TrialProxy } from '../trial/proxy.ts'
import { type Command, type Invocation, UsageError } from './command.ts'
import { stopOnSignal } from './stop-on-signal.ts'

const proxyPortFallback = 8444
const portMax = 65_535
const httpsPort = 443
const appsShownMax = 20
const environmentFile = 'trial.env'

export const trial: Command = {
  name: 'trial',
  usage: ['parley trial --domain DOMAIN [--proxy-port PORT]'],
  about:
    'Start the server under the domain of the service that your clients call today, on this machine only, with a proxy ' +
    'that leads them to it. Nothing of the clients, of DNS or of the system has to be changed.',
  options: { 'proxy-port': { type: 'string', about: `Port of that proxy, 0 for a free one [${proxyPortFallback}]` } },
  async run(invocation) {
    const config = trialConfig(invocation.config)
    const proxyPort = proxyPortIn(invocation)
    const { log, close } = createLog(config.logLevel)
    process.on('unhandledRejection', (reason) => log.error({ err: reason }, 'rejected, and nobody waited for it'))
    const service = await startService(config, log)
    const isMapped = trialNames(config.domain)
    const proxy = await openTrialProxy({ port: proxyPort, isMapped, target: service.port }).catch(async (error) => {
      await service.stop()
      throw proxyFailed(error, proxyPort)
    })
    stopOnSignal(service, [proxy.stopAccepting], log, close)
    log.info({ port: service.port, proxyPort: proxy.port, domain: config.domain }, 'started')
    const told = await tell(service.house, service, proxy)
    const file = join(config.data, environmentFile)
    const environment = trialEnvironment(told)
    writeFileSync(file, exportLines(environment))
    const data = { ...told, environment, environmentFile: file }
    process.stdout.write(invocation.json ? `${JSON.stringify(data)}\n` : trialText(told, file))
    return undefined
  },
}

/**
 * The install as it is, but for its name: on loopback only, with a certificate of its own authority, and with the port in
 * addresses that clients of the other service expect.
 */
function trialConfig(config: Config): Config {
  if (config.domain === 'localhost') {
    throw new UsageError('--domain is needed: the domain that your clients call today, such as example.com.')
  }
  return {
    ...config,
    tlsCert: undefined,
    tlsKey: undefined,
    host: '127.0.0.1',
    publicPort: config.publicPort ?? httpsPort,
  }
}

function proxyPortIn({ flags }: Invocation): number {
  const text = flags['proxy-port'] ?? String(proxyPortFallback)
  if (typeof text !== 'string' || !/^\d{1,5}$/.test(text) || Number(text) > portMax) {
    throw new UsageError(`--proxy-port must be a whole number from 0 to ${portMax}.`)
  }
  return Number(text)
}

function proxyFailed(error: Error & { code?: string }, port: number): Error {
  return error.code === 'EADDRINUSE'
    ? new Error(`Port ${port} is in use. Choose another with --proxy-port, or 0 for a free one.`)
    : error
}

async function tell(house: House, service: { port: number; caFile: string }, proxy: TrialProxy): Promise<Trial> {
  const { domain, region } = house.config
  const apps = await house.database.reader.query
    .selectFrom('apps')
    .select('id')
    .where('archived_at', 'is', null)
    .where('region', '=', region)
    .orderBy('created_at')
    .limit(appsShownMax)
    .execute()
  const { port, caFile } = service
  return { domain, region, port, proxyPort: proxy.port, caFile, appIds: apps.map(({ id }) => id) }
}
