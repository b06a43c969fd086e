import { sendMessage, speakerFor } from '../areas/messages/index.ts'
import { reactTo } from '../areas/reactions/index.ts'
import type { Message } from '../areas/timeline/schemas.ts'
import type { Work } from '../kit/work.ts'

/** What the demo's company has been talking about: in groups and in private, in several languages. */

interface Line {
  /** Names the line for replies. */
  id?: string
  from: string
  to: string
  text: string
  /** Minutes since the line before it. */
  after: number
  replyTo?: string
  reactions?: Record<string, string[]>
  tags?: string[]
  attachment?: { name: string; mimeType: string; extension: string; size: number }
}

const files = 'https://files.example.org'

const lines: Line[] = [
  {
    id: 'fair',
    from: 'nora',
    to: 'all-hands',
    after: 0,
    text: 'The autumn fair is in three weeks. Who comes along?',
    reactions: { '🙌': ['milo', 'amara', 'kenji', 'wanjiru'], '🪑': ['jonas'] },
    tags: ['fair'],
  },
  { from: 'jonas', to: 'all-hands', after: 4, text: 'I drive the van, with the two oak benches.', replyTo: 'fair' },
  {
    from: 'amara',
    to: 'all-hands',
    after: 9,
    text: 'Count me in! <@uid:kenji>, do we show the folding chair?',
    replyTo: 'fair',
  },
  {
    from: 'kenji',
    to: 'all-hands',
    after: 12,
    text: 'はい、試作品は金曜日に完成します。',
    replyTo: 'fair',
    reactions: { '🎉': ['amara', 'milo'] },
  },
  { from: 'mei', to: 'all-hands', after: 50, text: 'Please send me your travel costs before the 30th.' },
  {
    id: 'chair',
    from: 'milo',
    to: 'design-team',
    after: 90,
    text: 'The new drawings of the folding chair',
    attachment: { name: 'folding-chair.pdf', mimeType: 'application/pdf', extension: 'pdf', size: 482_133 },
    reactions: { '😍': ['amara'] },
  },
  {
    from: 'amara',
    to: 'design-team',
    after: 6,
    text: 'The hinge looks right now. I would make the seat 2 cm deeper.',
    replyTo: 'chair',
  },
  { from: 'kenji', to: 'design-team', after: 3, text: '賛成です。座面をもう少し深くしましょう。', replyTo: 'chair' },
  {
    from: 'sakura-tanaka',
    to: 'support',
    after: 120,
    text: 'My table arrived with a scratch. What can I do?',
    tags: ['ticket'],
  },
  { from: 'luis', to: 'support', after: 7, text: 'I am sorry to hear that! Could you send us a picture?' },
  {
    from: 'sakura-tanaka',
    to: 'support',
    after: 15,
    text: 'Here it is',
    attachment: { name: 'scratch.jpg', mimeType: 'image/jpeg', extension: 'jpg', size: 1_204_112 },
  },
  {
    from: 'elif',
    to: 'support',
    after: 20,
    text: 'A new top is on its way to you. ✅',
    reactions: { '❤️': ['sakura-tanaka'] },
  },
  {
    from: 'jonas',
    to: 'nora',
    after: 30,
    text: 'Grüße aus der Werkstatt! Die Bänke sind geölt und trocknen bis morgen früh.',
  },
  { from: 'nora', to: 'jonas', after: 2, text: 'Wunderbar, danke dir. Bis Freitag!', reactions: { '👍': ['jonas'] } },
  { from: 'priya', to: 'nora', after: 45, text: 'नमस्ते नोरा, इस हफ़्ते सहायता दल ने सौ से अधिक सवालों के जवाब दिए।' },
  { from: 'nora', to: 'priya', after: 10, text: 'That is wonderful. Please thank the team from me.' },
  { from: 'omar', to: 'luis', after: 60, text: 'مرحبا لويس، متى يصل الكرسي الذي طلبته؟' },
  { from: 'luis', to: 'omar', after: 5, text: 'Hello Omar, it will be with you on Tuesday.' },
  {
    from: 'amara',
    to: 'wanjiru',
    after: 25,
    text: 'Do you still have some of the ash wood? https://wood.example.org/ash',
  },
  { from: 'wanjiru', to: 'amara', after: 8, text: 'Yes, about two square metres. Come by!' },
]

/** Has them say it, over the last two days. */
export async function letDemoPeopleTalk(work: Work): Promise<void> {
  const minutes = lines.reduce((sum, { after }) => sum + after, 0)
  let at = work.now - 60 * (minutes + 30)
  const said = new Map<string, Message>()
  for (const line of lines) {
    at += 60 * line.after
    const message = await say({ ...work, now: at }, line, said)
    if (line.id) said.set(line.id, message)
    for (const [reaction, uids] of Object.entries(line.reactions ?? {})) {
      for (const uid of uids) await reactTo({ ...work, now: at + 60 }, Number(message.id), uid, reaction)
    }
  }
}

const groups = ['all-hands', 'support', 'design-team']

async function say(work: Work, line: Line, said: Map<string, Message>): Promise<Message> {
  const { from, to, text, replyTo, tags, attachment } = line
  const speaker = { ...(await speakerFor(work, { uid: from, role: 'default', roleId: null })), actor: undefined }
  const isImage = attachment?.mimeType.startsWith('image/')
  return sendMessage(work, speaker, {
    receiver: to,
    receiverType: groups.includes(to) ? 'group' : 'user',
    ...(attachment && { type: isImage ? 'image' : 'file' }),
    data: { text, ...(attachment && { attachments: [{ ...attachment, url: `${files}/${attachment.name}` }] }) },
    ...(replyTo && { parentId: said.get(replyTo)?.id ?? '' }),
    ...(tags && { tags }),
  })
}
