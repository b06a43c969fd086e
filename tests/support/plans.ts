import { viewIn } from '../../server/src/common/work-in.ts'
import type { View } from '../../server/src/kit/work.ts'
import { connectionOver } from '../../server/src/storage/connection.ts'
import type { AppClient, House } from './house.ts'
import { acrossApps } from './tripwire.ts'

/** How the database goes about some work: the statements, and what it reads for them. */

/** The statements that some work runs for an app, and what `look` makes of each before it runs. */
async function watching<Seen>(
  { service }: House,
  app: AppClient,
  work: (view: View) => Promise<unknown>,
  look: (text: string, parameters: readonly unknown[]) => Promise<Seen>,
): Promise<Seen[]> {
  const { database, tools } = service.house
  const { reader } = database
  const seen: Seen[] = []
  const watched = connectionOver(reader.flavour, async (text, parameters) => {
    seen.push(await look(text, parameters))
    return reader.run(text, parameters)
  })
  await work(viewIn(watched, app.id, tools))
  return seen
}

export function statementsOf(h: House, app: AppClient, work: (view: View) => Promise<unknown>): Promise<string[]> {
  return watching(h, app, work, async (text) => text)
}

export interface Planned {
  text: string
  plan: unknown[]
}

/** Plans of the statements that some work runs; on PostgreSQL, with the rows that were really read. */
export function plannedFor(h: House, app: AppClient, work: (view: View) => Promise<unknown>): Promise<Planned[]> {
  const { reader } = h.service.house.database
  const isSqlite = reader.flavour.rowAddress === 'rowid'
  const explain = isSqlite ? 'EXPLAIN QUERY PLAN' : 'EXPLAIN (ANALYZE, FORMAT JSON)'
  return watching(h, app, work, async (text, parameters) => {
    const { rows: plan } = await acrossApps(async () => reader.run(`${explain} ${text}`, parameters))
    return { text, plan }
  })
}

/** The same, to be looked through for words. */
export async function plansOf(h: House, app: AppClient, work: (view: View) => Promise<unknown>): Promise<string[]> {
  return (await plannedFor(h, app, work)).map(({ text, plan }) => `${text}\n${JSON.stringify(plan)}`)
}

interface PlanNode {
  'Relation Name'?: string
  'Actual Rows': number
  'Rows Removed by Filter'?: number
  'Actual Loops': number
  Plans?: PlanNode[]
}

/** How many rows of some tables a plan of PostgreSQL has read. */
export function rowsRead(plan: string, tables: string[]): number {
  const [, json = '[]'] = plan.split(/\n(?=\[\{"QUERY PLAN")/)
  const visit = (node: PlanNode): number => {
    const own = tables.includes(node['Relation Name'] ?? '')
      ? (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops']
      : 0
    return own + (node.Plans ?? []).reduce((sum, each) => sum + visit(each), 0)
  }
  return visit(JSON.parse(json)[0]['QUERY PLAN'][0].Plan)
}
