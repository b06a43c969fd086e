import { gate } from '../../kit/gate.ts'
import type { TenantDb } from '../../storage/tenant.ts'

/** What is kept under a group's GUID goes with the group, before the GUID can be used again. */
export const forgetPermissions = gate(async (_db: TenantDb, _guid: string): Promise<void> => {})
