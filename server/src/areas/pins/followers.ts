import { forgettingMessages } from '../timeline/index.ts'
import { forgetting } from '../users/index.ts'
import { forgetSavesOf } from './store.ts'

export const { forgetErased, forgetRest } = forgettingMessages('pins', [['saved_messages', 'message_id']])

/** Nobody has saved many: there is a limit. */
export const forgetUser = forgetting('pins', async ({ db }, { uid }) => {
  await forgetSavesOf(db, uid)
  return undefined
})
