import { badRequest } from '../../kit/errors.ts'

export const stepInFuture = (index: number, at: number, now: number) =>
  badRequest({
    [`steps.${index}.after`]: [
      `is at ${at}, which lies after the present (${now}); begin earlier or advance the clock`,
    ],
  })

export const startInFuture = (at: number, now: number) =>
  badRequest({ startAt: [`is ${at}, which lies after the present (${now}); begin earlier or advance the clock`] })

export const stepNeeds = (index: number, field: string) =>
  badRequest({ [`steps.${index}.${field}`]: ['is needed by this step'] })

export const clockChangeUnclear = () => badRequest({ now: ['send either now or advance'] })
