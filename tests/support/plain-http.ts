import { request } from 'node:http'
import { type Answer, parsed, type Sending } from './http.ts'

/** Sends over plain HTTP, the way no client should. */
export function sendPlain(port: number, host: string, path: string, sending: Sending = {}): Promise<Answer> {
  const { method = 'GET', headers = {}, body, raw } = sending
  const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body))
  return new Promise((resolve, reject) => {
    const outgoing = request(
      { host: '127.0.0.1', port, path, method, agent: false, headers: { host: `${host}:${port}`, ...headers } },
      (response) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (part) => {
          text += part
        })
        response.on('error', reject)
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text, body: parsed(text) }),
        )
      },
    )
    outgoing.on('error', reject)
    outgoing.end(payload)
  })
}
