/** The data-centre regions that addresses name. */
export const regions = ['us', 'eu', 'in'] as const
