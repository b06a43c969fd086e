import type { Area } from '../../kit/area.ts'
import type { ServiceAddress } from '../../kit/ports.ts'
import { domainWithPort } from '../../plain/place.ts'
import { type CataloguedError, type CataloguedEvent, errorCatalogue, eventCatalogue } from './catalogue.ts'
import { type Html, html, json, prose } from './html.ts'
import { counted, fieldTable, operationSection } from './operation-section.ts'

/** The chapters of the reference, in reading order. */

const setUpAt = (place: ServiceAddress) => `export DOMAIN=${domainWithPort(place)} REGION=${place.region}
export APP_ID=… API_KEY=…
export MANAGEMENT_KEY=… MANAGEMENT_SECRET=…
export CURL_CA_BUNDLE=…/ca.pem`

const failure = {
  error: {
    code: 'ERR_BAD_REQUEST',
    message: 'Some of the values sent are not valid.',
    devMessage: '1 field failed validation: name',
    source: 'chat-api',
    details: { name: ['must not be empty'] },
  },
}

export function startChapter(areas: Area[], place: ServiceAddress): Html {
  const managed = areas.some(({ mount }) => mount === 'management')
  return html`
<section class="op" id="start">
  <div class="about">
    <h2><a href="#start">Start here</a></h2>
    <p>Each app has two hosts of its own, one for chat and one for calls. The chat host has two more names: one that clients
    of end users call, and one that needs the header <code>appid</code>. Everything is HTTPS and JSON, and every success is
    HTTP&nbsp;200 with <code>data</code>.</p>
    <dl class="facts">
      <dt>Chat host</dt><dd><code>https://{appId}.api-{region}.{domain}/v3</code></dd>
      <dt>for end users</dt><dd><code>https://{appId}.apiclient-{region}.{domain}/v3</code></dd>
      <dt>by <code>appid</code></dt><dd><code>https://api-{region}.{domain}/v3</code></dd>
      <dt>Calls host</dt><dd><code>https://{appId}.call-{region}.{domain}/v3</code></dd>
      ${managed && html`<dt>Management</dt><dd><code>https://apimgmt.{domain}</code></dd>`}
    </dl>
    <h4>Authentication</h4>
    <p>Send an API key of the app in the header <code>apikey</code>. A <code>fullAccess</code> key may call everything; an
    <code>authOnly</code> key only what names it. Clients of end users send an auth token in the header
    <code>authToken</code> instead; each operation says whether one opens it. The management host takes a pair instead: the headers <code>key</code>
    and <code>secret</code>, or both as HTTP Basic.</p>
    <h4>Acting for a user</h4>
    <p>With the header <code>onBehalfOf</code> a call acts as that user and sees what the user may see. Each operation
    says whether it is required, optional or not used.</p>
    <h4>Lists</h4>
    <p>Lists come in pages: <code>page</code> counts from 1, <code>perPage</code> is 100 unless sent and at most 1000.
    <code>meta.pagination</code> tells how many records there are in all. Lists of messages and some others are read on from
    a record instead: <code>meta.next</code> and <code>meta.previous</code> hold what to ask for next.</p>
    <h4>Repeating a write safely</h4>
    <p>Give a write an <code>Idempotency-Key</code>. Sent again within 24 hours with the same body it is answered from the
    first time and happens once.</p>
    <h4>Limits</h4>
    <p>Requests are counted per app and minute in two classes, <code>core</code> and <code>standard</code>. Every answer
    tells what is left in <code>X-RateLimit-Remaining</code>; HTTP&nbsp;429 tells when to return in
    <code>Retry-After</code>.</p>
    <h4>Conventions</h4>
    <p>Times are integers, in UNIX seconds. A field without a value is left out, never <code>null</code>. Unknown fields
    and parameters are ignored. Updates change only what they name.</p>
  </div>
  <div class="code">
    <figure><figcaption>Set up your shell</figcaption><pre class="pick">${setUpAt(place)}</pre></figure>
    <figure><figcaption>A failure</figcaption><pre>${json(failure)}</pre></figure>
  </div>
</section>`
}

export function* areaChapter(area: Area): Generator<string> {
  yield html`
<header class="chapter" id="${chapterId(area)}"><h2><a href="#${chapterId(area)}">${titleOf(area)}</a></h2><p>${prose(area.about)}</p></header>
`.text
  for (const operation of area.operations) yield operationSection(area, operation).text
}

export function chapterId({ name }: Area): string {
  return `area-${name}`
}

/** `api-keys` is headed API keys. */
export function titleOf({ name }: Area): string {
  const words = name.replaceAll('-', ' ').replace(/^api\b/, 'API')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

export function errorsChapter(areas: Area[]): Html {
  const byCode = Map.groupBy(errorCatalogue(areas), ({ code }) => code)
  return html`
<section class="wide" id="errors">
  <h2><a href="#errors">Errors</a></h2>
  <p>Go by <code>error.code</code>; the sentences are for people and may change. The first check that fails answers.</p>
  <table class="errors catalogue"><thead><tr><th scope="col">Code</th><th scope="col">HTTP</th><th scope="col">When</th><th scope="col">Operations</th></tr></thead><tbody>${[
    ...byCode.values(),
  ].map((errors) => errors.map((error, index) => errorRow(error, index === 0)))}</tbody></table>
</section>`
}

function errorRow({ code, status, when, operations, reach }: CataloguedError, first: boolean): Html {
  const where = reach ?? operations.map(({ id }, index) => html`${index > 0 && ', '}<a href="#${id}">${id}</a>`)
  return html`<tr${first && html` id="${code}"`}><td><code>${code}</code></td><td>${status}</td><td>${prose(when)}</td><td class="where">${where}</td></tr>`
}

export function* eventsChapter(areas: Area[]): Generator<string> {
  yield html`
<header class="chapter" id="events"><h2><a href="#events">Events</a></h2>
<p>What happens is written to the app’s log in the transaction that made it true, in order and once.</p></header>
`.text
  for (const area of areas) yield html`${eventCatalogue([area]).map(eventSection)}`.text
}

export const eventId = (name: string) => `event-${name}`

function eventSection({ name, fields, sample, audience, triggers }: CataloguedEvent): Html {
  const listed = (names: string[]) => names.map((each, index) => html`${index > 0 && ', '}<code>${each}</code>`)
  return html`
<section class="op event" id="${eventId(name)}">
  <div class="about">
    <h3><a href="#${eventId(name)}"><code>${name}</code></a></h3>
    <dl class="facts">
      <dt>Live</dt><dd>${audience.length > 0 ? html`on the channels ${listed(audience)}` : 'stays inside the server'}</dd>
      <dt>Webhook</dt><dd>${triggers.length > 0 ? listed(triggers) : 'none'}</dd>
    </dl>
    <details><summary>Payload <small>${counted(fields)}</small></summary>${fieldTable(fields, false)}</details>
  </div>
  <div class="code"><figure><figcaption>Payload</figcaption><pre>${json(sample)}</pre></figure></div>
</section>`
}
