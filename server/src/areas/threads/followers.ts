import { forgetting } from '../timeline/index.ts'

export const { forgetErased, forgetRest } = forgetting('threads', [['thread_subscriptions', 'parent_id']])
