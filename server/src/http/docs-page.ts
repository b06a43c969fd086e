import type { Area } from '../kit/area.ts'

export function docsPage(areas: Area[]): string {
  return `<!doctype html><title>Parley</title>${areas.map(({ name }) => `<h2>${name}</h2>`).join('')}`
}
