/** The people of a small company that makes furniture: enough of them, and different enough, to try every list on. */

export const demoRoles = [
  { role: 'admin', name: 'Administrator', description: 'Runs the workspace' },
  { role: 'agent', name: 'Support agent', description: 'Talks to customers' },
  {
    role: 'customer',
    name: 'Customer',
    description: 'Sees and writes to friends only',
    settings: { listUsers: 'friendsOnly' as const, sendMessagesTo: 'friendsOnly' as const },
  },
]

// A name that is reserved for examples: the demo fetches nothing from a stranger's server.
const pictures = 'https://people.example.org'

interface Person {
  uid: string
  name: string
  title: string
  office: string
  role?: string
  tags: string[]
  statusMessage?: string
}

const people: Person[] = [
  { uid: 'nora', name: 'Nora Lind', title: 'Managing director', office: 'Malmö', role: 'admin', tags: ['leads'] },
  { uid: 'milo', name: 'Milo Brandt', title: 'Head of design', office: 'Malmö', tags: ['design', 'leads'] },
  { uid: 'amara', name: 'Amara Okafor', title: 'Furniture designer', office: 'Lagos', tags: ['design'] },
  { uid: 'kenji', name: 'Kenji Mori', title: 'Furniture designer', office: 'Osaka', tags: ['design'] },
  {
    uid: 'priya',
    name: 'Priya Raman',
    title: 'Head of support',
    office: 'Chennai',
    role: 'agent',
    tags: ['support', 'leads'],
  },
  { uid: 'luis', name: 'Luis Ferrer', title: 'Support agent', office: 'Valencia', role: 'agent', tags: ['support'] },
  {
    uid: 'elif',
    name: 'Elif Demir',
    title: 'Support agent',
    office: 'Izmir',
    role: 'agent',
    tags: ['support'],
    statusMessage: 'On parental leave until spring',
  },
  { uid: 'jonas', name: 'Jonas Weber', title: 'Workshop manager', office: 'Malmö', tags: ['workshop', 'leads'] },
  { uid: 'wanjiru', name: 'Wanjiru Kamau', title: 'Joiner', office: 'Nairobi', tags: ['workshop'] },
  {
    uid: 'mei',
    name: 'Mei Chen',
    title: 'Bookkeeper',
    office: 'Malmö',
    tags: ['finance'],
    statusMessage: 'Closing the quarter',
  },
  {
    uid: 'sakura-tanaka',
    name: '田中 さくら',
    title: 'Buyer at a hotel',
    office: 'Kyoto',
    role: 'customer',
    tags: ['customer', 'beta'],
  },
  { uid: 'omar', name: 'عمر حداد', title: 'Owner of a café', office: 'Amman', role: 'customer', tags: ['customer'] },
]

/** Who a visitor of the demo can be. */
export const demoPeople = people.map(({ uid, name, title }) => ({ uid, name, title }))

export const demoUsers = people.map(({ title, office, ...person }) => ({
  ...person,
  avatar: `${pictures}/${person.uid}.png`,
  link: `${pictures}/${person.uid}`,
  metadata: { title, office, '@private': { email: `${person.uid}@example.org` } },
}))
