/** Messages between the processes of the viewers suite, sent over Node's IPC channel. */

/** `work`: a session works without a pause. `publish`: the events of recorded runs are published, so many a second. */
export type KernelLoad = { readonly kind: 'work' } | { readonly kind: 'publish'; readonly perSecond: number }

export interface KernelOrder {
  readonly folder: string
  readonly load: KernelLoad
}

export interface WatchOrder {
  readonly url: string
  readonly token: string
  readonly viewers: number
  /** A viewer stays for at most so long, then leaves and continues. */
  readonly stayMs: number
}

/**
 * join: all viewers connect, answered by `watching`; read: count what was received, answered by `have read`; leave: all
 * leave, answered by `watched`.
 */
export type WatchRequest = { readonly kind: 'join' | 'read' | 'leave' }

/** All viewers are connected. */
export interface Watching {
  readonly kind: 'watching'
}

/** How many events all viewers together have received until now. */
export interface HaveRead {
  readonly kind: 'have read'
  readonly events: number
  /** When, in ms of the viewers' process. */
  readonly at: number
}

/** What all viewers together have received until now. */
export interface Watched {
  readonly kind: 'watched'
  readonly bytes: number
  /** How often a viewer left and continued after the last event that it had. */
  readonly resumes: number
  /** Events that a viewer did not get, without being told. */
  readonly missing: number
  /** Events that a viewer got twice. */
  readonly repeated: number
  /** How often a viewer was told to fetch everything anew. */
  readonly resets: number
}
