import type { House } from '../support/house.ts'

/** A `fetch` that finds the house under every name, as DNS would. */
export function fetchInto({ client }: House): typeof fetch {
  return async (input, init = {}) => {
    const { host, pathname, search } = new URL(String(input))
    const { headers, raw } = await sent(init)
    const { method = 'GET', signal } = init
    const answer = await client.send(host, `${pathname}${search}`, {
      method,
      headers,
      ...(raw && { raw }),
      ...(signal && { signal }),
    })
    return new Response(answer.text, { status: answer.status, headers: answer.headers as Record<string, string> })
  }
}

/** A form tells in a header where its parts end. */
async function sent({ body, headers }: RequestInit): Promise<{ headers: Record<string, string>; raw?: Buffer }> {
  const given = { ...(headers as Record<string, string>) }
  if (body === undefined || body === null) return { headers: given }
  const encoded = new Response(body)
  const type = body instanceof FormData ? { 'Content-Type': encoded.headers.get('Content-Type') ?? '' } : {}
  return { headers: { ...given, ...type }, raw: Buffer.from(await encoded.arrayBuffer()) }
}
