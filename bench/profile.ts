import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Sums up CPU profiles: where the time went, by function and by package or folder. Words: a file or a folder. */

interface Profile {
  nodes: { id: number; callFrame: { functionName: string; url: string; lineNumber: number } }[]
  samples: number[]
  timeDeltas: number[]
}

const shownMax = 45

function filesAt(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path]
  return readdirSync(path)
    .filter((name) => name.endsWith('.cpuprofile'))
    .map((name) => join(path, name))
}

function placeOf(url: string): string {
  const inPackage = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1]
  return inPackage ?? /(server\/src\/.*)$/.exec(url)?.[1] ?? (url === '' ? 'native' : url)
}

function summarise(file: string): void {
  const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(file, 'utf8')) as Profile
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]))
  const byFunction = new Map<string, number>()
  const byPlace = new Map<string, number>()
  let busy = 0
  samples.forEach((id, index) => {
    const frame = frames.get(id)
    if (!frame || frame.functionName === '(idle)') return
    const time = timeDeltas[index] ?? 0
    const place = placeOf(frame.url)
    const name = `${frame.functionName || '(anonymous)'}  ${place}:${frame.lineNumber + 1}`
    byFunction.set(name, (byFunction.get(name) ?? 0) + time)
    byPlace.set(place, (byPlace.get(place) ?? 0) + time)
    busy += time
  })
  const show = (title: string, times: Map<string, number>) => {
    console.log(`\n${title}`)
    const sorted = [...times].toSorted(([, a], [, b]) => b - a).slice(0, shownMax)
    for (const [name, time] of sorted) console.log(`${((time / busy) * 100).toFixed(1).padStart(5)} %  ${name}`)
  }
  console.log(`${file}: ${(busy / 1e6).toFixed(1)} s busy`)
  show('by place', byPlace)
  show('by function, self time', byFunction)
}

for (const path of process.argv.slice(2)) for (const file of filesAt(path)) summarise(file)
