import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Sums up CPU profiles: where the time went, by function and by package or folder. Words: a file or a folder. */

interface Frame {
  functionName: string
  url: string
  lineNumber: number
}

interface Profile {
  nodes: { id: number; callFrame: Frame; children?: number[] }[]
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

function nameOf({ functionName, url, lineNumber }: Frame): string {
  return `${functionName || '(anonymous)'}  ${placeOf(url)}:${lineNumber + 1}`
}

function summarise(file: string): void {
  const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(file, 'utf8')) as Profile
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])))
  const alone = new Map<string, number>()
  const withCallees = new Map<string, number>()
  const byPlace = new Map<string, number>()
  const add = (times: Map<string, number>, name: string, time: number) => times.set(name, (times.get(name) ?? 0) + time)
  let busy = 0
  samples.forEach((id, index) => {
    const frame = byId.get(id)?.callFrame
    if (!frame || frame.functionName === '(idle)') return
    const time = timeDeltas[index] ?? 0
    busy += time
    add(alone, nameOf(frame), time)
    add(byPlace, placeOf(frame.url), time)
    const seen = new Set<string>()
    for (let each: number | undefined = id; each !== undefined; each = parents.get(each)) {
      const caller = byId.get(each)
      if (caller) seen.add(nameOf(caller.callFrame))
    }
    for (const name of seen) add(withCallees, name, time)
  })
  const show = (title: string, times: Map<string, number>) => {
    console.log(`\n${title}`)
    const sorted = [...times].toSorted(([, a], [, b]) => b - a).slice(0, shownMax)
    for (const [name, time] of sorted) console.log(`${((time / busy) * 100).toFixed(1).padStart(5)} %  ${name}`)
  }
  console.log(`${file}: ${(busy / 1e6).toFixed(1)} s busy`)
  show('by place', byPlace)
  show('by function, with what it calls', withCallees)
  show('by function alone', alone)
}

for (const path of process.argv.slice(2)) for (const file of filesAt(path)) summarise(file)
