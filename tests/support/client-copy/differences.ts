import type { Json } from './state.ts'

/** Where two copies differ, a line for each place. */
export function differences(kept: Json, shown: Json, at = ''): string[] {
  if (!isRecord(kept) || !isRecord(shown)) {
    return JSON.stringify(kept) === JSON.stringify(shown)
      ? []
      : [`${at}: kept ${JSON.stringify(kept)}, shown ${JSON.stringify(shown)}`]
  }
  const names = [...new Set([...Object.keys(kept), ...Object.keys(shown)])]
  return names.flatMap((name) => differences(kept[name], shown[name], at === '' ? name : `${at}.${name}`))
}

// Lists are compared as they are: their order is part of what is shown.
const isRecord = (value: Json): boolean => typeof value === 'object' && value !== null && !Array.isArray(value)
