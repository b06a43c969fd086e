// Written by `npm run generate`; edit the declarations of the server instead.

/** What was seen to happen; `kind` tells which */
export type CallFact =
  | {
      kind: 'initiated'
      /** When it happened, in UNIX seconds */
      at: number
      initiator: string
      receiver: string
      /** Whom the call is addressed to */
      receiverType: 'user' | 'group'
      /** What the call was placed as */
      type: 'audio' | 'video'
      /** `call` rings; `meet` and `presenter` are joined */
      mode: 'call' | 'meet' | 'presenter'
      invited: string[]
      tags: string[]
      metaData?: Record<string, unknown>
      groupId?: string
      ringsOnlyInvited?: true
      ringSeconds?: number
      /** Why it happened */
      cause: string
    }
  | {
      kind: 'rung'
      /** When it happened, in UNIX seconds */
      at: number
      uid: string
      /** Why it happened */
      cause: string
    }
  | {
      kind: 'joined'
      /** When it happened, in UNIX seconds */
      at: number
      uid: string
      deviceId: string
      camera?: boolean
      mid: string
      /** Why it happened */
      cause: string
    }
  | {
      kind: 'cameraOn'
      /** When it happened, in UNIX seconds */
      at: number
      uid: string
      deviceId: string
      /** Why it happened */
      cause: string
    }
  | {
      kind: 'cameraOff'
      /** When it happened, in UNIX seconds */
      at: number
      uid: string
      deviceId: string
      /** Why it happened */
      cause: string
    }
  | {
      kind: 'left'
      /** When it happened, in UNIX seconds */
      at: number
      uid: string
      deviceId: string
      /** Why it happened */
      cause: string
    }
  | {
      kind: 'rejected'
      /** When it happened, in UNIX seconds */
      at: number
      uid: string
      /** Why it happened */
      cause: string
    }
  | {
      kind: 'canceled'
      /** When it happened, in UNIX seconds */
      at: number
      /** Why it happened */
      cause: string
    }
  | {
      kind: 'unanswered'
      /** When it happened, in UNIX seconds */
      at: number
      /** Why it happened */
      cause: string
    }
  | {
      kind: 'ended'
      /** When it happened, in UNIX seconds */
      at: number
      by?: string
      /** Why it happened */
      cause: string
    }
  | {
      kind: 'recordingStarted'
      /** When it happened, in UNIX seconds */
      at: number
      rid: string
      /** Why it happened */
      cause: string
    }
  | {
      kind: 'recordingStopped'
      /** When it happened, in UNIX seconds */
      at: number
      rid: string
      url: string
      /** Why it happened */
      cause: string
    }
  | {
      kind: 'transcribed'
      /** When it happened, in UNIX seconds */
      at: number
      tid: string
      startTime: number
      endTime: number
      url: string
      /** Why it happened */
      cause: string
    }

/** Who `initiator` and `receiver` are, where a user acts. Of whom they may not see, or who is gone, the id */
export interface CallEntities {
  initiator: CallUser
  receiver: CallUser | CallGroup
}

export interface Admissions {
  admins?: Record<
    string,
    | {
        success: true
        data: Message
      }
    | {
        success: false
        error: {
          code: string
          message: string
          devMessage: string
          source: 'chat-api'
          details?: Record<string, unknown>
        }
      }
  >
  moderators?: Record<
    string,
    | {
        success: true
        data: Message
      }
    | {
        success: false
        error: {
          code: string
          message: string
          devMessage: string
          source: 'chat-api'
          details?: Record<string, unknown>
        }
      }
  >
  participants?: Record<
    string,
    | {
        success: true
        data: Message
      }
    | {
        success: false
        error: {
          code: string
          message: string
          devMessage: string
          source: 'chat-api'
          details?: Record<string, unknown>
        }
      }
  >
  usersToBan?: Record<
    string,
    | {
        success: true
      }
    | {
        success: false
        error: {
          code: string
          message: string
          devMessage: string
          source: 'chat-api'
          details?: Record<string, unknown>
        }
      }
  >
}

export interface ApiKey {
  /** The key itself, 40 hexadecimal characters */
  apiKey: string
  /** A label, unique in the app */
  name: string
  /** What the key may do */
  scope: 'fullAccess' | 'authOnly'
  /** When it was created, in UNIX seconds */
  createdAt: number
  /** When it was last changed, in UNIX seconds */
  updatedAt?: number
}

export interface App {
  /** The app id, 16 hexadecimal characters */
  id: string
  name: string
  plan: 'self-hosted'
  state: 'active' | 'archived'
  /** The account that owns the app */
  owner: number
  /** The data-centre region */
  region: 'us' | 'eu' | 'in'
  /** When it was created, in UNIX seconds */
  createdAt: number
  appOwner: {
    id: string
    name: string
    email: string
  }
  appRegion: {
    /** The data-centre region */
    id: 'us' | 'eu' | 'in'
    name: string
    description: string
  }
  /** The keys of the app, by their value */
  apiKeys: Record<
    string,
    {
      apiKey: string
      name: string
      scope: 'fullAccess' | 'authOnly'
      createdBy: string
    }
  >
}

export interface AppSettings {
  /** Somebody joined, left or the like: becomes the last message of the conversation and counts as unread */
  'core.conversations.updateOnGroupActions': boolean
  /** Replies in threads become the last message; they never count */
  'core.conversations.updateOnReplies': boolean
  /** Edits and deletions become the last message and count */
  'core.conversations.updateOnMessageActions': boolean
  /** Messages about calls become the last message and count */
  'core.conversations.updateOnCallActivity': boolean
  /** Custom messages become the last message and count */
  'core.conversations.updateOnCustomMessage': boolean
  /** Edits and deletions of replies in threads become the last message and count */
  'core.threads.updateOnMessageActions': boolean
  /** Push notifications are sent */
  'core.notifications.push.enabled': boolean
  /** Push notifications can be had; read-only */
  'core.notifications.push.accessible': boolean
  /** So can all that belongs to them; read-only */
  'core.notifications.push.advanced.enabled': boolean
  /** What belongs to them; read-only */
  'core.notifications.push.advanced.included': string[]
}

export interface Attachment {
  /** Where the file is; the address is valid for a time */
  url: string
  /** File name */
  name: string
  /** Found by looking into the file */
  mimeType: string
  /** Without a dot */
  extension: string
  /** Bytes */
  size: number
}

export interface AuthToken {
  /** Whose token it is */
  uid: string
  /** The token itself */
  authToken: string
  /** When it was created, in UNIX seconds */
  createdAt: number
  /** The platform of the device */
  platform?: string
  /** The software on the device */
  userAgent?: string
  /** Data of your own */
  appInfo?: Record<string, unknown>
}

export interface BannedUser {
  /** The unique id; it never changes */
  uid: string
  /** The name to show */
  name: string
  /** Address of an image */
  avatar?: string
  /** Address of a profile page */
  link?: string
  /** Id of the role */
  role: string
  /** Whether the user is connected */
  status: 'available' | 'offline'
  /** What the user says about the moment */
  statusMessage?: string
  /** Free data. What stands under `@private` is shown to API keys alone. */
  metadata?: Record<string, unknown>
  /** When the user was last connected, in UNIX seconds */
  lastActiveAt?: number
  /** When the user was created, in UNIX seconds */
  createdAt: number
  /** When the user was last changed, in UNIX seconds */
  updatedAt?: number
  /** When the user was deactivated, in UNIX seconds */
  deactivatedAt?: number
  /** Of the acting user and this one */
  conversationId?: string
  /** The acting user has blocked this one */
  blockedByMe?: true
  /** Since when, in UNIX seconds */
  blockedByMeAt?: number
  /** This user has blocked the acting one */
  hasBlockedMe?: true
  /** Since when, in UNIX seconds */
  hasBlockedMeAt?: number
  /** The later of the two, in UNIX seconds */
  blockedAt?: number
  /** What the user was in the group; absent if never a member */
  scope?: 'admin' | 'moderator' | 'participant'
  isBanned: true
  /** When the ban was made, in UNIX seconds */
  bannedAt: number
  /** When the user had joined; absent if never a member, in UNIX seconds */
  joinedAt?: number
}

export interface Call {
  /** Unique id of the call; treat it as opaque */
  sessionId: string
  /** What the call was placed as */
  type: 'audio' | 'video'
  /** `call` rings; `meet` and `presenter` are joined */
  mode: 'call' | 'meet' | 'presenter'
  /** Whom the call is addressed to */
  receiverType: 'user' | 'group'
  /** How far the call has come */
  status: 'initiated' | 'ongoing' | 'ended' | 'unanswered' | 'rejected' | 'canceled'
  /** UID of the caller */
  initiator: string
  /** UID or GUID, according to `receiverType` */
  receiver: string
  /** When the call was placed, in UNIX seconds */
  initiatedAt: number
  /** When the call was placed, in UNIX seconds */
  startedAt: number
  /** When the call reached a final state, in UNIX seconds */
  endedAt?: number
  /** Sum over the participants, in minutes */
  totalAudioMinutes: number
  /** Sum over the participants, in minutes */
  totalVideoMinutes: number
  /** Audio and video time together, in minutes */
  totalDurationInMinutes: number
  /** The same as HH:MM:SS */
  totalDuration: string
  /** Number of entries in `participants`, one per device */
  totalParticipants: number
  hasRecording: boolean
  hasTranscription: boolean
  /** Id of the media meeting, once someone has joined */
  mid?: string
  participants: Participant[]
  recordings?: Recording[]
  /** The five newest */
  transcriptions?: Transcription[]
  /** The same as `mode`; where a user acts */
  callCategory?: 'call' | 'meet' | 'presenter'
  /** Who `initiator` and `receiver` are, where a user acts. Of whom they may not see, or who is gone, the id */
  entities?: CallEntities
  /** Free data; an empty array when there is none */
  metaData: Record<string, unknown> | unknown[]
  tags: string[]
}

export interface CallExplanation {
  sessionId: string
  /** The moment up to which running time is counted, in UNIX seconds */
  asOf: number
  facts: {
    number: number
    recordedAt: number
    /** What was seen to happen; `kind` tells which */
    fact: CallFact
  }[]
  /** Each status the call had, and the fact that made it so */
  status: {
    /** How far the call has come */
    status: 'initiated' | 'ongoing' | 'ended' | 'unanswered' | 'rejected' | 'canceled'
    at: number
    fact: number
    cause: string
  }[]
  participants: {
    uid: string
    deviceId?: string
    /** How far this participant has come */
    state: 'ongoing' | 'ended' | 'unanswered' | 'rejected'
    spans: {
      /** What the call was placed as */
      medium: 'audio' | 'video'
      from: {
        /** Its number in the ledger */
        fact: number
        at: number
      }
      to: {
        /** Its number in the ledger */
        fact?: number
        at?: number
      }
      seconds: number
    }[]
    audioSeconds: number
    videoSeconds: number
    /** How the answered figure follows */
    audioMinutes: string
    videoMinutes: string
  }[]
  totals: {
    audioMinutes: string
    videoMinutes: string
    durationInMinutes: string
    duration: string
    participants: string
    endedAt?: string
  }
  /** Rung, but beyond the 50 entries a record holds */
  notListed: string[]
}

export interface CallGroup {
  guid: string
  /** Absent where the acting user may not see them */
  name?: string
  icon?: string
}

export interface CallToken {
  /** To join the session with, within five minutes */
  token: string
}

export interface CallUser {
  uid: string
  /** Absent where the acting user may not see them */
  name?: string
  avatar?: string
}

export interface ClientSettings {
  /** Switches and limits by key */
  settings: {
    /** Somebody joined, left or the like: becomes the last message of the conversation and counts as unread */
    'core.conversations.updateOnGroupActions': boolean
    /** Replies in threads become the last message; they never count */
    'core.conversations.updateOnReplies': boolean
    /** Edits and deletions become the last message and count */
    'core.conversations.updateOnMessageActions': boolean
    /** Messages about calls become the last message and count */
    'core.conversations.updateOnCallActivity': boolean
    /** Custom messages become the last message and count */
    'core.conversations.updateOnCustomMessage': boolean
    /** Edits and deletions of replies in threads become the last message and count */
    'core.threads.updateOnMessageActions': boolean
    /** Push notifications are sent */
    'core.notifications.push.enabled': boolean
    /** Push notifications can be had; read-only */
    'core.notifications.push.accessible': boolean
    /** So can all that belongs to them; read-only */
    'core.notifications.push.advanced.enabled': boolean
    /** What belongs to them; read-only */
    'core.notifications.push.advanced.included': string[]
    /** Bytes of one file, and of all files of one request */
    'file.size.max': number
    /** Files of one message */
    'file.count.max': number
    /** Pinned messages of one conversation */
    'parley.messages.pinned.max': number
    /** Saved messages of one user */
    'parley.messages.saved.max': number
    /** Pinned conversations of one user */
    'parley.conversations.pinned.max': number
  }
  /** Features that the user's role may not use, with the prefix `u.`, in their order */
  restrictedFeatures: string[]
}

export interface Collaborator {
  /** 16 hexadecimal characters */
  id: string
  /** The name of the account; the address, until there is one */
  name: string
  /** The address, in lower case */
  email: string
  /** What they are in the team */
  role: 'admin' | 'developer' | 'moderator'
  /** When they were added, in UNIX seconds */
  createdAt: number
}

export interface Conversation {
  conversationId: string
  conversationType: 'user' | 'group'
  /** Whose side it is; in lists without an acting user */
  uid?: string
  /** Messages not read */
  unreadMessageCount?: string
  /** Unread messages that name the acting user */
  unreadMentionsCount?: number
  lastReadMessageId?: string
  /** Since when the user takes part, in UNIX seconds */
  createdAt: number
  /** The last activity, in UNIX seconds */
  updatedAt: number
  lastMessage?: Message
  /** The other user, or the group */
  conversationWith: Record<string, unknown>
  tags?: string[]
  /** The acting user, or `app_system` */
  pinnedBy?: string
  /** When it was pinned, in UNIX seconds */
  pinnedAt?: number
}

export interface CreatedGroup {
  /** The unique id; it never changes */
  guid: string
  /** The name to show */
  name: string
  /** Who may join: everyone, who knows the password, or nobody by themselves */
  type: 'public' | 'password' | 'private'
  description?: string
  /** Address of an image */
  icon?: string
  /** Data of your own */
  metadata?: Record<string, unknown>
  /** UID of the owner, or `app_system` */
  owner: string
  /** How many members there are; the banned are not among them */
  membersCount: number
  /** How many of them are connected */
  onlineMembersCount?: number
  conversationId: string
  tags?: string[]
  /** When it was created, in UNIX seconds */
  createdAt: number
  /** When it, or who is in it, last changed, in UNIX seconds */
  updatedAt?: number
  /** Who changed it last: a UID, or `app_system` */
  updatedBy?: string
  /** Whether the acting user is a member */
  hasJoined?: boolean
  /** The acting user's scope */
  scope?: 'admin' | 'moderator' | 'participant'
  /** When the acting user joined, in UNIX seconds */
  joinedAt?: number
  members?: Admissions
}

export interface CreatedUser {
  /** The unique id; it never changes */
  uid: string
  /** The name to show */
  name: string
  /** Address of an image */
  avatar?: string
  /** Address of a profile page */
  link?: string
  /** Id of the role */
  role: string
  /** Whether the user is connected */
  status: 'available' | 'offline'
  /** What the user says about the moment */
  statusMessage?: string
  /** Free data. What stands under `@private` is shown to API keys alone. */
  metadata?: Record<string, unknown>
  tags?: string[]
  /** When the user was last connected, in UNIX seconds */
  lastActiveAt?: number
  /** When the user was created, in UNIX seconds */
  createdAt: number
  /** When the user was last changed, in UNIX seconds */
  updatedAt?: number
  /** When the user was deactivated, in UNIX seconds */
  deactivatedAt?: number
  /** A fresh token, with `withAuthToken` */
  authToken?: string
}

export interface DeactivatedUsers {
  deactivatedUids?: string[]
  alreadyDeactivatedUids?: string[]
  notFound?: string[]
}

export interface Done {
  success: true
  message: string
}

export interface FriendsAdded {
  accepted: Record<
    string,
    | Done
    | {
        success: false
        error: {
          code: string
          message: string
          devMessage: string
          source: 'chat-api'
          details?: Record<string, unknown>
        }
      }
  >
}

export interface Group {
  /** The unique id; it never changes */
  guid: string
  /** The name to show */
  name: string
  /** Who may join: everyone, who knows the password, or nobody by themselves */
  type: 'public' | 'password' | 'private'
  description?: string
  /** Address of an image */
  icon?: string
  /** Data of your own */
  metadata?: Record<string, unknown>
  /** UID of the owner, or `app_system` */
  owner: string
  /** How many members there are; the banned are not among them */
  membersCount: number
  /** How many of them are connected */
  onlineMembersCount?: number
  conversationId: string
  tags?: string[]
  /** When it was created, in UNIX seconds */
  createdAt: number
  /** When it, or who is in it, last changed, in UNIX seconds */
  updatedAt?: number
  /** Who changed it last: a UID, or `app_system` */
  updatedBy?: string
  /** Whether the acting user is a member */
  hasJoined?: boolean
  /** The acting user's scope */
  scope?: 'admin' | 'moderator' | 'participant'
  /** When the acting user joined, in UNIX seconds */
  joinedAt?: number
}

export interface ListedCall {
  /** Unique id of the call; treat it as opaque */
  sessionId: string
  /** What the call was placed as */
  type: 'audio' | 'video'
  /** `call` rings; `meet` and `presenter` are joined */
  mode: 'call' | 'meet' | 'presenter'
  /** Whom the call is addressed to */
  receiverType: 'user' | 'group'
  /** How far the call has come */
  status: 'initiated' | 'ongoing' | 'ended' | 'unanswered' | 'rejected' | 'canceled'
  /** UID of the caller */
  initiator: string
  /** UID or GUID, according to `receiverType` */
  receiver: string
  /** When the call was placed, in UNIX seconds */
  initiatedAt: number
  /** When the call was placed, in UNIX seconds */
  startedAt: number
  /** When the call reached a final state, in UNIX seconds */
  endedAt?: number
  /** Sum over the participants, in minutes */
  totalAudioMinutes: number
  /** Sum over the participants, in minutes */
  totalVideoMinutes: number
  /** Audio and video time together, in minutes */
  totalDurationInMinutes: number
  /** The same as HH:MM:SS */
  totalDuration: string
  /** Number of entries in `participants`, one per device */
  totalParticipants: number
  hasRecording: boolean
  hasTranscription: boolean
  /** Id of the media meeting, once someone has joined */
  mid?: string
  participants: Participant[]
  recordings?: Recording[]
  /** The five newest */
  transcriptions?: Transcription[]
  /** The same as `mode`; where a user acts */
  callCategory?: 'call' | 'meet' | 'presenter'
  /** Who `initiator` and `receiver` are, where a user acts. Of whom they may not see, or who is gone, the id */
  entities?: CallEntities
}

export interface Member {
  /** The unique id; it never changes */
  uid: string
  /** The name to show */
  name: string
  /** Address of an image */
  avatar?: string
  /** Address of a profile page */
  link?: string
  /** Id of the role */
  role: string
  /** Whether the user is connected */
  status: 'available' | 'offline'
  /** What the user says about the moment */
  statusMessage?: string
  /** Free data. What stands under `@private` is shown to API keys alone. */
  metadata?: Record<string, unknown>
  /** When the user was last connected, in UNIX seconds */
  lastActiveAt?: number
  /** When the user was created, in UNIX seconds */
  createdAt: number
  /** When the user was last changed, in UNIX seconds */
  updatedAt?: number
  /** When the user was deactivated, in UNIX seconds */
  deactivatedAt?: number
  /** Of the acting user and this one */
  conversationId?: string
  /** The acting user has blocked this one */
  blockedByMe?: true
  /** Since when, in UNIX seconds */
  blockedByMeAt?: number
  /** This user has blocked the acting one */
  hasBlockedMe?: true
  /** Since when, in UNIX seconds */
  hasBlockedMeAt?: number
  /** The later of the two, in UNIX seconds */
  blockedAt?: number
  /** What the member may do in the group */
  scope: 'admin' | 'moderator' | 'participant'
  /** When the member joined, in UNIX seconds */
  joinedAt: number
}

export interface Message {
  /** Unique in the app; ids grow with time */
  id: string
  /** The sender's own id for it */
  muid?: string
  conversationId: string
  /** UID, or `app_system` */
  sender: string
  /** UID or GUID */
  receiver: string
  receiverType: 'user' | 'group'
  category: string
  type: string
  /** The content, and who it is about */
  data: Record<string, unknown>
  /** When it was sent, in UNIX seconds */
  sentAt: number
  /** When it was last edited, deleted, delivered, read or replied to, in UNIX seconds */
  updatedAt: number
  /** When it had reached the receiver; in a group, everybody, in UNIX seconds */
  deliveredAt?: number
  /** When the receiver had read it; in a group, everybody, in UNIX seconds */
  readAt?: number
  /** When it reached the acting user, in UNIX seconds */
  deliveredToMeAt?: number
  /** When the acting user read it, in UNIX seconds */
  readByMeAt?: number
  /** When it was last edited, in UNIX seconds */
  editedAt?: number
  /** UID, or `app_system` */
  editedBy?: string
  /** When it was deleted, in UNIX seconds */
  deletedAt?: number
  /** UID, or `app_system` */
  deletedBy?: string
  /** The message that the thread belongs to */
  parentId?: string
  /** Replies in the thread of this message */
  replyCount?: number
  /** Replies that the acting user has not read */
  unreadRepliesCount?: number
  /** Whether the acting user follows the thread */
  threadSubscribed?: boolean
  /** The message that is quoted */
  quotedMessageId?: string
  tags?: string[]
  /** UID, or `app_system` */
  pinnedBy?: string
  /** When it was pinned, in UNIX seconds */
  pinnedAt?: number
  /** When the acting user saved it, in UNIX seconds */
  savedAt?: number
  quotedMessage?: {
    /** Unique in the app; ids grow with time */
    id: string
    /** The sender's own id for it */
    muid?: string
    conversationId: string
    /** UID, or `app_system` */
    sender: string
    /** UID or GUID */
    receiver: string
    receiverType: 'user' | 'group'
    category: string
    type: string
    /** The content, and who it is about */
    data: Record<string, unknown>
    /** When it was sent, in UNIX seconds */
    sentAt: number
    /** When it was last edited, deleted, delivered, read or replied to, in UNIX seconds */
    updatedAt: number
    /** When it had reached the receiver; in a group, everybody, in UNIX seconds */
    deliveredAt?: number
    /** When the receiver had read it; in a group, everybody, in UNIX seconds */
    readAt?: number
    /** When it reached the acting user, in UNIX seconds */
    deliveredToMeAt?: number
    /** When the acting user read it, in UNIX seconds */
    readByMeAt?: number
    /** When it was last edited, in UNIX seconds */
    editedAt?: number
    /** UID, or `app_system` */
    editedBy?: string
    /** When it was deleted, in UNIX seconds */
    deletedAt?: number
    /** UID, or `app_system` */
    deletedBy?: string
    /** The message that the thread belongs to */
    parentId?: string
    /** Replies in the thread of this message */
    replyCount?: number
    /** Replies that the acting user has not read */
    unreadRepliesCount?: number
    /** Whether the acting user follows the thread */
    threadSubscribed?: boolean
    /** The message that is quoted */
    quotedMessageId?: string
    tags?: string[]
    /** UID, or `app_system` */
    pinnedBy?: string
    /** When it was pinned, in UNIX seconds */
    pinnedAt?: number
    /** When the acting user saved it, in UNIX seconds */
    savedAt?: number
  }
  parent?: {
    /** Unique in the app; ids grow with time */
    id: string
    /** The sender's own id for it */
    muid?: string
    conversationId: string
    /** UID, or `app_system` */
    sender: string
    /** UID or GUID */
    receiver: string
    receiverType: 'user' | 'group'
    category: string
    type: string
    /** The content, and who it is about */
    data: Record<string, unknown>
    /** When it was sent, in UNIX seconds */
    sentAt: number
    /** When it was last edited, deleted, delivered, read or replied to, in UNIX seconds */
    updatedAt: number
    /** When it had reached the receiver; in a group, everybody, in UNIX seconds */
    deliveredAt?: number
    /** When the receiver had read it; in a group, everybody, in UNIX seconds */
    readAt?: number
    /** When it reached the acting user, in UNIX seconds */
    deliveredToMeAt?: number
    /** When the acting user read it, in UNIX seconds */
    readByMeAt?: number
    /** When it was last edited, in UNIX seconds */
    editedAt?: number
    /** UID, or `app_system` */
    editedBy?: string
    /** When it was deleted, in UNIX seconds */
    deletedAt?: number
    /** UID, or `app_system` */
    deletedBy?: string
    /** The message that the thread belongs to */
    parentId?: string
    /** Replies in the thread of this message */
    replyCount?: number
    /** Replies that the acting user has not read */
    unreadRepliesCount?: number
    /** Whether the acting user follows the thread */
    threadSubscribed?: boolean
    /** The message that is quoted */
    quotedMessageId?: string
    tags?: string[]
    /** UID, or `app_system` */
    pinnedBy?: string
    /** When it was pinned, in UNIX seconds */
    pinnedAt?: number
    /** When the acting user saved it, in UNIX seconds */
    savedAt?: number
  }
  lastReply?: {
    /** Unique in the app; ids grow with time */
    id: string
    /** The sender's own id for it */
    muid?: string
    conversationId: string
    /** UID, or `app_system` */
    sender: string
    /** UID or GUID */
    receiver: string
    receiverType: 'user' | 'group'
    category: string
    type: string
    /** The content, and who it is about */
    data: Record<string, unknown>
    /** When it was sent, in UNIX seconds */
    sentAt: number
    /** When it was last edited, deleted, delivered, read or replied to, in UNIX seconds */
    updatedAt: number
    /** When it had reached the receiver; in a group, everybody, in UNIX seconds */
    deliveredAt?: number
    /** When the receiver had read it; in a group, everybody, in UNIX seconds */
    readAt?: number
    /** When it reached the acting user, in UNIX seconds */
    deliveredToMeAt?: number
    /** When the acting user read it, in UNIX seconds */
    readByMeAt?: number
    /** When it was last edited, in UNIX seconds */
    editedAt?: number
    /** UID, or `app_system` */
    editedBy?: string
    /** When it was deleted, in UNIX seconds */
    deletedAt?: number
    /** UID, or `app_system` */
    deletedBy?: string
    /** The message that the thread belongs to */
    parentId?: string
    /** Replies in the thread of this message */
    replyCount?: number
    /** Replies that the acting user has not read */
    unreadRepliesCount?: number
    /** Whether the acting user follows the thread */
    threadSubscribed?: boolean
    /** The message that is quoted */
    quotedMessageId?: string
    tags?: string[]
    /** UID, or `app_system` */
    pinnedBy?: string
    /** When it was pinned, in UNIX seconds */
    pinnedAt?: number
    /** When the acting user saved it, in UNIX seconds */
    savedAt?: number
  }
  unreadReplyCount?: number
  unreadMentionCount?: number
  receipts?: {
    data: unknown[]
  }
}

export interface OwnApp {
  /** The app id, 16 hexadecimal characters */
  id: string
  name: string
  /** The data-centre region */
  region: 'us' | 'eu' | 'in'
  state: 'active' | 'archived'
  /** When it was created, in UNIX seconds */
  createdAt: number
}

export interface Participant {
  uid: string
  /** Time in the call without sending video, in minutes */
  totalAudioMinutes: number
  /** Time in the call sending video, in minutes */
  totalVideoMinutes: number
  /** Audio and video time together, in minutes */
  totalDurationInMinutes: number
  /** The same number again, in minutes */
  totalDuration: number
  /** The device used to join */
  deviceId?: string
  isJoined: boolean
  /** When this device first joined, in UNIX seconds */
  joinedAt?: number
  /** When this device last left, in UNIX seconds */
  leftAt?: number
  /** How far this participant has come */
  state: 'ongoing' | 'ended' | 'unanswered' | 'rejected'
  /** Id of the media meeting */
  mid?: string
  /** Where a user acts who may see them */
  name?: string
  /** Where a user acts who may see them */
  avatar?: string
  /** The same as `isJoined`; where a user acts */
  hasJoined?: boolean
}

export interface Permission {
  /** The permission */
  id: string
  /** Whose permission it is */
  type: 'role' | 'scope'
  title: string
  description: string
  /** What a value looks like */
  dataType: 'string' | 'stringArray' | 'rolesStringArray' | 'customStringArray'
  /** The values there are; absent for lists of roles and of free words */
  availableValues?: string[]
  /** What holds unless set */
  defaultValue: string | string[]
  /** What holds now */
  value: string | string[]
  /** When the permission came into the catalogue, in UNIX seconds */
  createdAt: number
  /** When the permission was last described anew, in UNIX seconds */
  updatedAt: number
}

export interface Reaction {
  id: string
  messageId: string
  reaction: string
  uid: string
  /** When, in UNIX seconds */
  reactedAt: number
  reactedBy: User
}

export interface ReactivatedUsers {
  reactivatedUids?: string[]
  nonDeactivatedUids?: string[]
  notFound?: string[]
}

export interface Receipt {
  messageId: string
  /** Who received or read it */
  sender: Record<string, unknown>
  receiverId: string
  receiverType: 'user' | 'group'
  receiptType: 'delivery' | 'read'
  deliveredAt: number
  readAt?: number
}

export interface Recording {
  /** Recording id */
  rid: string
  /** Length, in minutes */
  duration: number
  /** When recording started, in UNIX seconds */
  startTime: number
  /** When recording ended, in UNIX seconds */
  endTime: number
  /** Address of the file */
  recording_url: string
}

export interface RestrictedFeature {
  /** What the feature is called */
  title: string
  /** What can no longer be done */
  description: string
  /** The feature, with the prefix `u.` */
  key: string
  /** Where the act happens */
  path: string
  /** When it was restricted, in UNIX seconds */
  createdAt: number
}

export interface Role {
  /** The role's unique id */
  role: string
  /** Shown to people */
  name: string
  /** What the role is for */
  description?: string
  /** Data of your own */
  metadata?: Record<string, unknown>
  /** What users of this role may do */
  settings?: {
    /** Whom users of this role see in lists of users */
    listUsers?: 'all' | 'friendsOnly'
    /** Whom users of this role may send direct messages to */
    sendMessagesTo?: 'all' | 'friendsOnly'
  }
  /** When it was created, in UNIX seconds */
  createdAt: number
  /** When it was last changed, in UNIX seconds */
  updatedAt?: number
}

export interface ScopeChanged {
  guid: string
  uid: string
  scope: 'admin' | 'moderator' | 'participant'
  /** When the member joined, in UNIX seconds */
  joinedAt: number
}

export interface TeamOutcomes {
  admins: Record<
    string,
    | {
        success: true
        message: string
        /** Where there is no account with the address: the link to pass on to them, told this once */
        inviteUrl?: string
      }
    | {
        success: false
        error: {
          code: string
          message: string
          devMessage: string
          source: 'mgmt-api'
          details?: Record<string, unknown>
        }
      }
  >
  developers: Record<
    string,
    | {
        success: true
        message: string
        /** Where there is no account with the address: the link to pass on to them, told this once */
        inviteUrl?: string
      }
    | {
        success: false
        error: {
          code: string
          message: string
          devMessage: string
          source: 'mgmt-api'
          details?: Record<string, unknown>
        }
      }
  >
  moderators: Record<
    string,
    | {
        success: true
        message: string
        /** Where there is no account with the address: the link to pass on to them, told this once */
        inviteUrl?: string
      }
    | {
        success: false
        error: {
          code: string
          message: string
          devMessage: string
          source: 'mgmt-api'
          details?: Record<string, unknown>
        }
      }
  >
  collaboratorsToRemove: Record<
    string,
    | Done
    | {
        success: false
        error: {
          code: string
          message: string
          devMessage: string
          source: 'mgmt-api'
          details?: Record<string, unknown>
        }
      }
  >
}

export interface Transcription {
  /** The media room */
  roomName: string
  /** Id of the media meeting */
  mid?: string
  /** Transcript id */
  tid: string
  /** Where the covered span begins, in UNIX seconds */
  startTime: number
  /** Where the covered span ends, in UNIX seconds */
  endTime: number
  /** When it was produced, ISO 8601 */
  transcriptDate: string
  /** Address of the file */
  transcriptUrl: string
}

export interface User {
  /** The unique id; it never changes */
  uid: string
  /** The name to show */
  name: string
  /** Address of an image */
  avatar?: string
  /** Address of a profile page */
  link?: string
  /** Id of the role */
  role: string
  /** Whether the user is connected */
  status: 'available' | 'offline'
  /** What the user says about the moment */
  statusMessage?: string
  /** Free data. What stands under `@private` is shown to API keys alone. */
  metadata?: Record<string, unknown>
  tags?: string[]
  /** When the user was last connected, in UNIX seconds */
  lastActiveAt?: number
  /** When the user was created, in UNIX seconds */
  createdAt: number
  /** When the user was last changed, in UNIX seconds */
  updatedAt?: number
  /** When the user was deactivated, in UNIX seconds */
  deactivatedAt?: number
  /** Of the acting user and this one */
  conversationId?: string
  /** The acting user has blocked this one */
  blockedByMe?: true
  /** Since when, in UNIX seconds */
  blockedByMeAt?: number
  /** This user has blocked the acting one */
  hasBlockedMe?: true
  /** Since when, in UNIX seconds */
  hasBlockedMeAt?: number
  /** The later of the two, in UNIX seconds */
  blockedAt?: number
}
