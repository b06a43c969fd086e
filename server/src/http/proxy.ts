import type { IncomingMessage } from 'node:http'
import ipaddr from 'ipaddr.js'

export type AddressRange = [ipaddr.IPv4 | ipaddr.IPv6, number]

export type ProxyTrust = ReturnType<typeof createProxyTrust>

/** Whom to believe about a request that did not come straight from its client. */
export function createProxyTrust(trusted: AddressRange[]) {
  const known = new Map<string, boolean>()

  function isTrusted(address: string | undefined): boolean {
    if (trusted.length === 0 || address === undefined) return false
    let answer = known.get(address)
    if (answer === undefined) {
      answer = matches(address, trusted)
      if (known.size > 10_000) known.clear()
      known.set(address, answer)
    }
    return answer
  }

  return {
    isTrusted,
    /** TLS up to here, or up to a proxy that is trusted to say so. */
    isSecure: (request: IncomingMessage): boolean =>
      'encrypted' in request.socket ||
      (request.headers['x-forwarded-proto'] === 'https' && isTrusted(request.socket.remoteAddress)),
    clientAddress(request: IncomingMessage): string {
      const peer = request.socket.remoteAddress ?? ''
      const forwarded = request.headers['x-forwarded-for']
      if (!isTrusted(peer) || typeof forwarded !== 'string') return peer
      return forwarded.split(',').at(-1)?.trim() ?? peer
    },
  }
}

function matches(address: string, ranges: AddressRange[]): boolean {
  const parsed = ipaddr.process(address)
  return ranges.some((range) => parsed.kind() === range[0].kind() && parsed.match(range as [ipaddr.IPv4, number]))
}
