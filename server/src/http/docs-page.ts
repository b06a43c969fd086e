import type { Area } from '../kit/area.ts'
import type { ServiceAddress } from '../kit/ports.ts'
import { documentedAreas } from './openapi.ts'
import {
  areaChapter,
  chapterId,
  errorsChapter,
  eventId,
  eventsChapter,
  startChapter,
  titleOf,
} from './reference/chapters.ts'
import { Html, html } from './reference/html.ts'
import { method } from './reference/operation-section.ts'
import { style, styleOfTargets } from './reference/style.ts'

/** The reference as one page without scripts; piece by piece, since all of it takes a while to make. */
export function* docsPage(areas: Area[], place: ServiceAddress): Generator<string> {
  const shown = documentedAreas(areas)
  yield opening(shown, areas).text
  yield startChapter(shown, place).text
  for (const area of shown) yield* areaChapter(area)
  yield errorsChapter(shown).text
  yield* eventsChapter(areas)
  yield closing.text
}

const closing = html`
  <footer>Made by the server from the declarations it runs on.</footer>
</main>
</body>
</html>
`

function opening(shown: Area[], areas: Area[]): Html {
  const ids = ['start', 'errors', ...shown.flatMap(({ operations }) => operations.map(({ id }) => id))]
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Parley API reference</title>
<style>${new Html(style + styleOfTargets(ids))}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the reference</a>
<input type="checkbox" id="menu" aria-label="Show the contents">
<aside>
  <div class="brand"><a href="#top"><span class="mark"></span>Parley <small>API v3</small></a><label for="menu">Contents</label></div>
  ${contents(shown, areas)}
</aside>
<main id="main">
  <header class="hero" id="top">
    <h1>API reference</h1>
    <p>Chat and calling for your product, on your own servers.</p>
    <p class="links"><a href="/openapi.json">OpenAPI 3.1 document</a><a href="#errors">Error catalogue</a><a href="#events">Events</a></p>
  </header>
`
}

function contents(shown: Area[], areas: Area[]): Html {
  return html`<nav aria-label="Contents">
    <ul><li><a href="#start">Start here</a></li></ul>
    ${shown.map(
      (area) => html`<p><a href="#${chapterId(area)}">${titleOf(area)}</a></p>
    <ul>${area.operations.map((operation) => html`<li><a href="#${operation.id}"><span>${operation.summary}</span>${method(operation)}</a></li>`)}</ul>`,
    )}
    <p><a href="#errors">Errors</a></p>
    <p><a href="#events">Events</a></p>
    <ul>${areas.flatMap(({ events }) => events).map(({ name }) => html`<li><a href="#${eventId(name)}"><span>${name}</span></a></li>`)}</ul>
  </nav>`
}
