/** Env: the hands' reach. Tools ask for ops groups; the env of a session supplies them, rooted in its workspace. */

import { TirelessError } from '../domain/error.ts'
import { describeValue, ignoreRejections, type Json } from '../domain/json.ts'
import type { EgressProxy } from './egress.ts'

export interface FileContent {
  readonly text: string
  /** Digest of the bytes on disk: SHA-256, hex. */
  readonly sha: string
}

export interface FileEntry {
  /** Relative to the root, with forward slashes; folders end in one. */
  readonly path: string
  readonly bytes: number
}

/**
 * One rooted file API for all tools.
 * Contract for every method: the path is taken relative to the root (an absolute path is accepted only inside the root); NUL,
 * `..` out of the root, symbolic and hard links that lead out, anything but regular files and folders, and files over the size
 * cap are refused with `path_refused`, checked on the opened handle; so is writing to a protected name.
 */
export interface FileOps {
  /** Contract: undefined where there is no such file. */
  read(path: string): Promise<FileContent | undefined>
  /**
   * Contract: whole and atomic (temporary file, fsync, rename); makes missing folders. `expected` is the digest the file must still have
   * (null: it must not exist); otherwise `conflict`. What is there already, byte for byte, is no conflict. Nothing below a `.git` is written: what
   * lies there is run by whoever uses git.
   */
  write(path: string, content: string | Uint8Array, expected: string | null): Promise<{ readonly sha: string }>
  /** Contract: whether the file or folder that is there may be written to, as far as that can be told without writing; false where there is none. */
  writable(path: string): Promise<boolean>
  /** Contract: sorted, at most `limit` entries, `depth` levels; says whether there was more. */
  list(
    path: string,
    depth: number,
    limit: number,
  ): Promise<{ readonly entries: readonly FileEntry[]; readonly more: boolean }>
  /** Contract: files of the root whose content or name changed at or after that wall instant; bounded. */
  changedSince(ms: number): Promise<readonly string[]>
}

export interface ProcessResult {
  readonly exit: number | null
  readonly signal: string | null
  readonly output: string
  /** Bytes of output beyond the cap, dropped from the middle. */
  readonly dropped: number
  readonly ended: 'exited' | 'timed_out' | 'interrupted'
  /** The folder it ended in, relative to the root; empty for the root, also where it ended outside of it. */
  readonly cwd: string
}

/** A proxy that listens on the file of a unix socket. */
export type WayOut = Pick<EgressProxy, 'user' | 'password' | 'refusals' | 'close'>
export type OpenWayOut = (socket: string) => Promise<WayOut>

export interface RunOptions {
  readonly timeoutMs: number
  readonly signal: AbortSignal
  /**
   * Which hosts it may reach where it runs in a sandbox: `allowed`, those that the owner has allowed; or those of a proxy of its own, which is opened on
   * the file of a unix socket. Default: none.
   */
  readonly network?: 'allowed' | OpenWayOut
  /** The folder to begin in, relative to the root; the root where there is no such folder any more. */
  readonly cwd?: string
  /** Told what it writes, while it writes; in pieces, and not necessarily all of it. Must not throw. */
  readonly heard?: (text: string) => void
}

/** Contract for every method: `call` names the process tree, across restarts of this program. */
export interface ProcessOps {
  /**
   * Contract: runs the command in the root, in a sandbox unless the owner wants none, output kept in a file of the home while it runs; when it returns, for whatever reason
   * (exit, timeout, abort), no process of its tree is left.
   */
  run(call: string, command: string, options: RunOptions): Promise<ProcessResult>
  /** Contract: kills what is left of that call's tree from an earlier life of this program, then tells the output so far. */
  reap(call: string): Promise<{ readonly output: string; readonly killed: boolean }>
  /** Contract: forgets the files kept for that call. Never throws. */
  forget(call: string): Promise<void>
}

export interface GitChange {
  /** Relative to the root. */
  readonly path: string
  readonly kind: 'new' | 'changed' | 'gone' | 'conflict'
}

export interface GitCommit {
  readonly id: string
  /** When it was made, epoch ms. */
  readonly ts: number
  readonly subject: string
}

/**
 * Contract for every method: nothing that the repository's configuration names is run (hooks, filters, diff drivers), nothing is
 * fetched, and submodules are left alone.
 */
export interface GitOps {
  /** Contract: the id of the last commit; null where there is none yet. */
  head(): Promise<string | null>
  /** Contract: how the work tree differs from the last commit, ignored files aside; bounded, says whether there was more. */
  status(): Promise<{ readonly changes: readonly GitChange[]; readonly more: boolean }>
  /** Contract: the same as a patch, for files that git knows; bounded, says whether there was more. */
  diff(): Promise<{ readonly patch: string; readonly more: boolean }>
  /** Contract: the last commit and those before it, newest first, at most `limit`. */
  log(limit: number): Promise<readonly GitCommit[]>
  /** Contract: everything that `status` tells becomes one commit; its id, or null where there is nothing to commit. */
  commit(message: string): Promise<string | null>
}

/** Ops groups by name. */
export interface OpsGroups {
  readonly file: FileOps
  readonly process: ProcessOps
  readonly git: GitOps
}

export type OpsGroup = keyof OpsGroups

export type Health = { readonly ok: true } | { readonly ok: false; readonly reason: string }

export interface Env {
  readonly root: string
  /** The ops groups it has. */
  readonly groups: readonly OpsGroup[]
  /** Contract: always the same ops; undefined exactly where `groups` does not name them. */
  getOps<G extends OpsGroup>(group: G): OpsGroups[G] | undefined
  /** Contract: whether work can be done in it right now; changes nothing, never throws. */
  health(): Promise<Health>
  /** Contract: pure; whether the world it stands for has come to its end, so that the run does too. */
  isTerminal?(state: Json): boolean
  /** Contract: gives back what `open` took, and nothing of the workspace; idempotent, never throws. */
  close(): Promise<void>
}

export interface Envs {
  /**
   * Contract: sets an env up. The folder exists afterwards; `kind` names the back end, and without it the folder decides. Throws when it
   * cannot be set up, and then leaves nothing to close.
   */
  open(workspace: string, kind?: string): Promise<Env>
}

/** The part of an env that hands out ops. */
export function supplying(ops: Partial<OpsGroups>): Pick<Env, 'groups' | 'getOps'> {
  return { groups: Object.keys(ops) as OpsGroup[], getOps: (group) => ops[group] }
}

/** What a tool needs, or a refusal that says which group is missing. */
export function opsOf<G extends OpsGroup>(env: Env, group: G): OpsGroups[G] {
  const ops: unknown = env.getOps(group)
  if (typeof ops === 'object' && ops !== null && !(ops instanceof Promise)) return ops as OpsGroups[G]
  ignoreRejections(ops)
  if (ops !== undefined)
    throw new TirelessError('plugin_invalid', {
      what: 'the env returned an invalid value from getOps()',
      where: env.root,
      got: describeValue(ops),
      expected: `the ops group "${group}", or undefined`,
    })
  throw new TirelessError('tool_failed', {
    what: `this env has no ops group "${group}"`,
    where: env.root,
    expected: `one of ${env.groups.join(', ') || 'none'}`,
  })
}
