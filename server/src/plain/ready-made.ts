/** A reply that is already JSON text and goes out as it is; a list may come in pieces, which commas then part. */
export class ReadyMade {
  readonly #before: string
  readonly #items: string[]
  readonly #after: string

  constructor(before: string, items: string[] = [], after = '') {
    this.#before = before
    this.#items = items
    this.#after = after
  }

  get text(): string {
    return `${this.#before}${this.#items.join(',')}${this.#after}`
  }

  /** What is answered to a request that is repeated under its `Idempotency-Key`. */
  get kept(): string {
    return this.text
  }

  /** What is sent. Pieces are encoded one by one: to join, measure and copy a long text costs up to three times as much. */
  get body(): string | Buffer {
    if (this.#items.length === 0) return this.text
    const pieces = [this.#before, ...this.#items, this.#after]
    const bytes = pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece), this.#items.length - 1)
    const body = Buffer.allocUnsafe(bytes)
    let at = body.write(this.#before)
    for (const [index, item] of this.#items.entries()) {
      if (index > 0) at += body.write(',', at)
      at += body.write(item, at)
    }
    body.write(this.#after, at)
    return body
  }
}

/** A reply that tells more than may be kept of it: whoever repeats the request gets the rest. */
export class ToldOnce extends ReadyMade {
  readonly #kept: string

  constructor(reply: object, kept: object) {
    super(JSON.stringify(reply))
    this.#kept = JSON.stringify(kept)
  }

  override get kept(): string {
    return this.#kept
  }
}
