import { availableParallelism } from 'node:os'
import type { PortRange } from '../settings.ts'

/** The files that one process of the engine is started with. */

export interface JanusConfiguration {
  node: string
  apiPort: number
  apiSecret: string
  /** Without it nobody makes a room. */
  adminKey: string
  /** Where it tells what happens. */
  eventsUrl: string
  address: string
  publicAddress: string | undefined
  ports: PortRange
}

/** The second before it tells that nothing comes any more. */
export const noMediaSeconds = 1
export const reclaimSeconds = 30
const sessionSeconds = 60
const slowLinkLost = 4
const eventLoopsMax = 4

const otherPlugins = [
  ...['audiobridge', 'duktape', 'echotest', 'lua', 'nosip', 'recordplay'],
  ...['sip', 'streaming', 'textroom', 'videocall', 'voicemail'],
]
const otherTransports = ['http', 'mqtt', 'nanomsg', 'pfunix', 'rabbitmq']
const otherEventHandlers = ['gelfevh', 'mqttevh', 'nanomsgevh', 'rabbitmqevh', 'sampleevh']

const libraries = (names: string[]) => names.map((name) => `libjanus_${name}.so`).join(',')

/**
 * What is not named here the engine takes from no other place, as long as it is told this folder both as the place of its
 * configuration and of its plug-ins' configuration: see `janusWords`.
 */
export function janusFiles(configuration: JanusConfiguration): Record<string, string> {
  return {
    [mainFile]: mainText(configuration),
    'janus.transport.websockets.jcfg': apiText(configuration),
    'janus.transport.http.jcfg': 'general: { http = false  https = false }\nadmin: { admin_http = false }\n',
    'janus.eventhandler.wsevh.jcfg': eventsText(configuration),
    'janus.plugin.videoroom.jcfg': `general: { string_ids = true  admin_key = "${configuration.adminKey}"  lock_rtp_forward = true }\n`,
  }
}

const mainFile = 'janus.jcfg'

/** Without the first of the two, it reads its packaged files and opens its API to everybody. */
export const janusWords = (folder: string) => ['-F', folder, '-C', `${folder}/${mainFile}`]

function mainText({ node, apiSecret, ports, address, publicAddress }: JanusConfiguration): string {
  const outside = publicAddress === undefined ? '' : `  nat_1_1_mapping = "${publicAddress}"  keep_private_host = true`
  return `general: {
  api_secret = "${apiSecret}"
  admin_secret = "${apiSecret}"
  server_name = "${node}"
  session_timeout = ${sessionSeconds}
  reclaim_session_timeout = ${reclaimSeconds}
  event_loops = ${Math.min(availableParallelism(), eventLoopsMax)}
  debug_level = 3
  debug_timestamps = true
  debug_colors = false
}
media: {
  ipv6 = false
  rtp_port_range = "${ports.first}-${ports.last}"
  no_media_timer = ${noMediaSeconds}
  slowlink_threshold = ${slowLinkLost}
}
nat: { ignore_mdns = true  ice_enforce_list = "${address}"${outside} }
plugins: { disable = "${libraries(otherPlugins)}" }
transports: { disable = "${libraries(otherTransports)}" }
loggers: { disable = "libjanus_jsonlog.so" }
events: { broadcast = true  combine_media_stats = true  stats_period = 0  disable = "${libraries(otherEventHandlers)}" }
`
}

function apiText({ apiPort }: JanusConfiguration): string {
  return `general: {
  ws = true
  ws_ip = "127.0.0.1"
  ws_port = ${apiPort}
  wss = false
  json = "compact"
  pingpong_trigger = 10
  pingpong_timeout = 10
}
admin: { admin_ws = false  admin_wss = false }
`
}

function eventsText({ eventsUrl }: JanusConfiguration): string {
  return `general: {
  enabled = true
  events = "media,plugins"
  grouping = true
  json = "compact"
  backend = "${eventsUrl}"
}
`
}
