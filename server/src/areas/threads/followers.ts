import { forgettingMessages } from '../timeline/index.ts'

export const { forgetErased, forgetRest } = forgettingMessages('threads', [['thread_subscriptions', 'parent_id']])
