import type { Finding, Verdict } from './suite.ts'

const marks: Record<Verdict, string> = { holds: '✔', 'does not hold': '✖', 'not seen': '·' }
const sectionWidth = 22

/** One finding as it is printed, with the area's name above its first. */
export function findingLines(finding: Finding, previous: Finding | undefined): string {
  const { area, contract, section, expects, verdict, reason, answered } = finding
  const heading = previous?.area === area ? [] : ['', `${area} (contract ${contract})`]
  const why =
    verdict === 'holds'
      ? []
      : [
          `      ${verdict === 'not seen' ? 'not seen' : 'expected'}: ${reason}`,
          ...(answered === undefined ? [] : [`      answered: ${answered}`]),
        ]
  return [...heading, `  ${marks[verdict]} ${section.padEnd(sectionWidth)} ${expects}`, ...why].join('\n')
}

/** How many promises hold, by area. */
export function summary(findings: Finding[]): string {
  const areas = [...new Set(findings.map(({ area }) => area))]
  const count = (area: string | undefined, verdict: Verdict) =>
    findings.filter((each) => (area === undefined || each.area === area) && each.verdict === verdict).length
  const line = (title: string, area: string | undefined) => [
    title,
    String(count(area, 'holds')),
    String(count(area, 'does not hold')),
    String(count(area, 'not seen')),
  ]
  const rows = [
    ['area', 'holds', 'does not', 'not seen'],
    ...areas.map((area) => line(area, area)),
    line('all', undefined),
  ]
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? []
  return rows
    .map((row) =>
      row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join('  '),
    )
    .join('\n')
}
