/** Messages between the queue suite and the processes of a queue, sent over Node's IPC channel. */

/** Where the queue is, and a folder for files of the process. */
export interface QueueOrder {
  readonly url: string
  readonly folder: string
}

export type QueueRequest =
  /** Adds jobs, in the fastest way that the queue offers. */
  | { readonly kind: 'fill'; readonly jobs: number }
  /** Adds jobs one by one, with a pause between them. */
  | { readonly kind: 'send'; readonly jobs: number; readonly pauseMs: number }
  | { readonly kind: 'count' }
  | { readonly kind: 'work' }
  | { readonly kind: 'stop' }

export type QueueAnswer =
  | { readonly kind: 'ready' }
  | { readonly kind: 'filled'; readonly seconds: number }
  | { readonly kind: 'sent' }
  | { readonly kind: 'counted'; readonly jobs: number }
  | { readonly kind: 'working' }
  /** Told again and again by a process that works. */
  | { readonly kind: 'progress'; readonly done: number }
  | ({ readonly kind: 'worked' } & Worked)

export interface Worked {
  readonly marks: readonly Mark[]
  readonly done: number
  /** For each job that was sent alone: from the call that sent it until its start. */
  readonly delaysMs: readonly number[]
}

/** The state of one process, or of a server, at an instant of the clock that all processes share. */
export interface Mark {
  readonly at: number
  readonly done: number
  readonly cpuMs: number
}

/** How often processes that work take a mark and tell their progress. */
export const MARK_MS = 50

/** Contract: milliseconds of a clock that all processes of this machine share. */
export const sharedNow = (): number => Number(process.hrtime.bigint()) / 1e6
