import type { Shape } from '../../dispatch/shape.ts'
import type { Area } from '../../kit/area.ts'
import type { ErrorDefinition } from '../../kit/errors.ts'
import type { Operation } from '../../kit/operation.ts'
import { documentedPath, errorsOf, hostOf, type Parameter, parametersOf } from '../openapi.ts'
import { curlOf } from './curl.ts'
import { fieldsOf, type ReferenceField, typeOf } from './fields.ts'
import { type Html, html, json, prose } from './html.ts'
import { sampleOf } from './sample.ts'

const openRowsMax = 14

export function operationSection(area: Area, operation: Operation): Html {
  const { id, summary, description, deprecated, hasBody, body, reply } = operation
  const bodyFields = hasBody ? fieldsOf(body as Shape) : []
  return html`
<section class="op" id="${id}">
  <div class="about">
    <h3><a href="#${id}">${summary}</a></h3>
    <p class="route">${method(operation)} <code class="path">${pathOf(area, operation)}</code></p>
    ${deprecated && html`<p class="note">Deprecated: use <code>${deprecated.replacedBy}</code>.</p>`}
    ${description && html`<p>${prose(description)}</p>`}
    ${facts(area, operation)}
    ${parameterTable(parametersOf(area, operation))}
    ${bodyFields.length > 0 && html`<h4>Body</h4>${fieldTable(bodyFields, true)}`}
    ${folded('Reply', fieldsOf(reply as Shape))}
    ${errorTables(operation)}
  </div>
  <div class="code">
    <figure><figcaption>Request</figcaption><pre class="pick">${curlOf(area, operation)}</pre></figure>
    <figure><figcaption>Reply <b>200</b></figcaption><pre>${json(sampleOf(reply as Shape))}</pre></figure>
  </div>
</section>`
}

export function method({ method: name }: Operation): Html {
  return html`<b class="method ${name.toLowerCase()}">${name}</b>`
}

function pathOf(area: Area, operation: Operation): Html {
  const parts = documentedPath(area, operation).split(/(\{\w+\})/)
  return html`${parts.map((part) => (part.startsWith('{') ? html`<i>${part}</i>` : part))}`
}

function credentialsOf({ door, doors, keys }: Operation): Html {
  if (door === 'management') return html`Headers <code>key</code> and <code>secret</code>, or the pair as HTTP Basic`
  const scopes = keys.map((key, index) => html`${index > 0 && ' or '}<code>${key}</code>`)
  const ways = [
    ...(doors.includes('server') ? [html`Header <code>apikey</code>, scope ${scopes}`] : []),
    ...(doors.includes('client') ? [html`Header <code>authToken</code>, of an end user`] : []),
  ]
  return html`${ways.map((way, index) => html`${index > 0 && '; or '}${way}`)}`
}

function facts(area: Area, operation: Operation): Html {
  const { id, door, doors, onBehalfOf, rate, hasBody, bodyBytesMax } = operation
  const acting = {
    unsupported: html`Not used; ignored if sent`,
    optional: html`Optional`,
    required: html`Required`,
  }[onBehalfOf]
  return html`<dl class="facts">
      <dt>Host</dt><dd><code>${hostOf(area).url}</code></dd>
      <dt>Credentials</dt><dd>${credentialsOf(operation)}</dd>
      ${door === 'server' && doors.includes('server') && html`<dt>onBehalfOf</dt><dd>${acting}</dd>`}
      <dt>Rate class</dt><dd>${rate}</dd>
      ${hasBody && html`<dt>Body limit</dt><dd>${bodyBytesMax.toLocaleString('en')} bytes</dd>`}
      <dt>Operation id</dt><dd><code>${id}</code></dd>
    </dl>`
}

function parameterTable(parameters: Parameter[]): Html | undefined {
  if (parameters.length === 0) return undefined
  const rows = parameters.map(({ name, in: place, required, description = '', schema }) => {
    const [field] = fieldsOf({ type: 'object', properties: { [name]: schema } })
    return { ...(field as ReferenceField), path: name, type: `${place} ${typeOf(schema)}`, required, description }
  })
  return html`<h4>Parameters</h4>${fieldTable(rows, true)}`
}

/** `sent` fields say whether they are required; in a reply it is the optional ones that are marked. */
export function fieldTable(fields: ReferenceField[], sent: boolean): Html {
  return html`<table class="fields"><thead><tr><th scope="col">Field</th><th scope="col">About</th></tr></thead><tbody>${fields.map((field) => fieldRow(field, sent))}</tbody></table>`
}

function fieldRow({ path, depth, type, required, description, values, limits }: ReferenceField, sent: boolean): Html {
  const cut = path.lastIndexOf('.') + 1
  const mark = sent
    ? required && html` <em class="must">required</em>`
    : !required && html` <em class="may">optional</em>`
  return html`<tr><td class="d${Math.min(depth, 4)}"><code><span class="parent">${path.slice(0, cut)}</span>${path.slice(cut)}</code><small>${type}${mark}</small></td><td>${prose(description)}${
    values.length > 0 && html`<span class="values">${values.map((value) => html`<code>${value}</code> `)}</span>`
  }${limits.length > 0 && html`<small>${limits.join(', ')}</small>`}</td></tr>`
}

export function counted({ length }: ReferenceField[]): string {
  return length === 1 ? '1 field' : `${length} fields`
}

function folded(title: string, fields: ReferenceField[]): Html {
  const open = fields.length <= openRowsMax
  return html`<details${open && ' open'}><summary>${title} <small>${counted(fields)}</small></summary>${fieldTable(fields, false)}</details>`
}

/** Its own failures stand open; those it shares with every other operation are a click away. */
function errorTables(operation: Operation): Html {
  const own = operation.errors
  const shared = errorsOf(operation).filter((error) => !own.includes(error))
  return html`${own.length > 0 && html`<h4>Errors</h4>${errorTable(own)}`}
    <details><summary>${own.length > 0 ? 'Shared errors' : 'Errors'} <small>${shared.length}</small></summary>${errorTable(shared)}</details>`
}

function errorTable(errors: ErrorDefinition[]): Html {
  return html`<table class="errors"><thead><tr><th scope="col">Code</th><th scope="col">HTTP</th><th scope="col">When</th></tr></thead><tbody>${errors.map(
    ({ code, status, when }) =>
      html`<tr><td><a href="#${code}"><code>${code}</code></a></td><td>${status}</td><td>${prose(when)}</td></tr>`,
  )}</tbody></table>`
}
