/** The few that are offered at once; whatever others have chosen can be joined. */
export const offered = ['👍', '❤️', '😂', '🎉', '😮', '😢', '🙏', '👀', '✅', '🔥', '🙌', '😍', '🤔', '👏', '🚀', '👎']
