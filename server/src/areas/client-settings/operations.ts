import { one } from '../../common/reply.ts'
import { type Actor, operation } from '../../kit/operation.ts'
import type { View } from '../../kit/work.ts'
import { pinsMax } from '../conversations/index.ts'
import { pinnedMax, savedMax } from '../pins/index.ts'
import { policyOf } from '../rbac/index.ts'
import { prefixedKey } from '../restricted-features/index.ts'
import { ClientSettings } from './schemas.ts'

const getMySettings = operation({
  id: 'getMySettings',
  route: 'GET /me/settings',
  summary: 'Get what a client has to know of the app',
  description: "Switches, limits, and the features that the acting user's role may not use.",
  doors: ['server', 'client'],
  onBehalfOf: 'required',
  may: 'listSettings',
  reply: one(ClientSettings),
  run: async (call) => ({ data: await settingsFor(call, call.actor) }),
})

async function settingsFor({ db, tools, settings }: View, actor: Actor | undefined): Promise<ClientSettings> {
  const restricted = actor ? (await policyOf(db, actor)).restricted : []
  return {
    settings: {
      ...(await settings()),
      'file.size.max': tools.fileLimits.bytesMax,
      'file.count.max': tools.fileLimits.countMax,
      'parley.messages.pinned.max': pinnedMax,
      'parley.messages.saved.max': savedMax,
      'parley.conversations.pinned.max': pinsMax,
    },
    restrictedFeatures: [...restricted].map(prefixedKey).toSorted(),
  }
}

export const operations = [getMySettings]
