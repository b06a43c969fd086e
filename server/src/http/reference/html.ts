/** Text that is HTML already. Whatever else is put into a page is escaped. */
export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

type Piece = Html | string | number | undefined | false | Piece[]

/** A template whose values are escaped unless they are HTML themselves. */
export function html(parts: TemplateStringsArray, ...pieces: Piece[]): Html {
  return new Html(parts.reduce((text, part, index) => text + textOf(pieces[index - 1]) + part))
}

function textOf(piece: Piece): string {
  if (piece instanceof Html) return piece.text
  if (Array.isArray(piece)) return piece.map(textOf).join('')
  return piece === undefined || piece === false ? '' : escaped(String(piece))
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? '')
}

/** A sentence of the declarations, where `backticks` mark code. */
export function prose(text: string): Html {
  return html`${text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))}`
}

const token = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(?:true|false|null)\b|-?\d+(?:\.\d+)?/g

/** A value as indented JSON, with its parts marked for colour. */
export function json(value: unknown): Html {
  const text = JSON.stringify(value, null, 2)
  const pieces: Piece[] = []
  let end = 0
  for (const match of text.matchAll(token)) {
    const [whole, quoted, colon] = match
    pieces.push(text.slice(end, match.index))
    if (colon) pieces.push(html`<span class="k">${quoted}</span>${colon}`)
    else pieces.push(html`<span class="${quoted ? 's' : 'n'}">${whole}</span>`)
    end = match.index + whole.length
  }
  return html`${pieces}${text.slice(end)}`
}
