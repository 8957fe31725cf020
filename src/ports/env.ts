/** Env: the execution environment of a session. It supplies groups of operations, rooted in the workspace. */

import { TirelessError } from '../domain/error.ts'
import { describeValue, ignoreRejections, type Json } from '../domain/json.ts'
import type { EgressProxy } from './egress.ts'
import type { RunEnding } from './run-ending.ts'

interface FileContent {
  readonly text: string
  /** SHA-256 of the bytes on disk, in hex. */
  readonly sha: string
}

export interface FileEntry {
  /** Relative to the root, with forward slashes; the path of a folder ends with a slash. */
  readonly path: string
  readonly bytes: number
}

/**
 * The file operations of all tools.
 * Contract for every method: paths are relative to the root (an absolute path must lie inside it). Throws
 * `path_refused` for NUL, `..` out of the root, symbolic or hard links out of it, anything but regular files and
 * folders, files over the size limit, and writes to protected names; all are checked on the opened handle.
 */
export interface FileOps {
  /** Contract: undefined if there is no such file. */
  read(path: string): Promise<FileContent | undefined>
  /**
   * Contract: atomic (temporary file, fsync, rename); creates missing folders. `expected`: the digest that the file
   * must still have (null: the file must not exist); otherwise throws `conflict`, unless the file already has the new
   * content. Never writes below `.git`, because git executes files there.
   */
  write(path: string, content: string | Uint8Array, expected: string | null): Promise<{ readonly sha: string }>
  /** Contract: whether the file or folder seems writable, checked without writing; false if it does not exist. */
  writable(path: string): Promise<boolean>
  /** Contract: at most `limit` entries down to `depth` levels, sorted; `more`: the list was cut. */
  list(
    path: string,
    depth: number,
    limit: number,
  ): Promise<{ readonly entries: readonly FileEntry[]; readonly more: boolean }>
  /** Contract: returns a limited number of files whose content or name changed at or after `ms` (wall time). */
  changedSince(ms: number): Promise<readonly string[]>
}

export interface ProcessResult {
  readonly exit: number | null
  readonly signal: string | null
  readonly output: string
  /** Number of bytes removed from the middle of the output because it exceeded the limit. */
  readonly dropped: number
  readonly ended: 'exited' | 'timed_out' | 'interrupted'
  /**
   * The folder that the command changed to, relative to the root; empty for the root and for any folder outside of it.
   */
  readonly cwd: string
}

/** A proxy that listens on a unix socket. */
export interface SocketProxy extends Pick<EgressProxy, 'user' | 'password' | 'refusals' | 'close'> {
  /** Environment variables for the command, besides those that name the proxy. */
  readonly environment?: Readonly<Record<string, string>>
}
export type OpenSocketProxy = (socket: string) => Promise<SocketProxy>

export interface RunOptions {
  readonly timeoutMs: number
  readonly signal: AbortSignal
  /** Opens the proxy through which a sandboxed command reaches the network. Default: the command reaches nothing. */
  readonly network?: OpenSocketProxy
  /** The folder in which the command starts, relative to the root; the root if that folder no longer exists. */
  readonly cwd?: string
  /** Called with output while the command runs; some output may be skipped. Must not throw. */
  readonly onOutput?: (text: string) => void
}

/** Contract for every method: `call` identifies the process tree, also after a restart of this program. */
export interface ProcessOps {
  /**
   * Contract: runs the command in the root, sandboxed unless the owner has switched that off. While the command runs,
   * its output is kept in a file of the home. After `run` returns (exit, timeout or abort), no process of the command
   * is left.
   */
  run(call: string, command: string, options: RunOptions): Promise<ProcessResult>
  /**
   * Contract: kills the processes of that call that an earlier process of this program left running, then returns the
   * output so far.
   */
  reap(call: string): Promise<{ readonly output: string; readonly killed: boolean }>
  /** Contract: deletes the files kept for that call. Never throws. */
  forget(call: string): Promise<void>
}

export interface GitChange {
  /** Relative to the root. */
  readonly path: string
  readonly kind: 'new' | 'changed' | 'gone' | 'conflict'
}

export interface GitCommit {
  readonly id: string
  /** Commit time, epoch milliseconds. */
  readonly ts: number
  readonly subject: string
}

/**
 * Contract for every method: runs nothing that the repository configures (hooks, filters, diff drivers), fetches
 * nothing, and does not enter submodules.
 */
export interface GitOps {
  /** Contract: id of the last commit; null if there is none. */
  head(): Promise<string | null>
  /**
   * Contract: a limited number of differences between work tree and last commit, without ignored files; `more`: the
   * list was cut.
   */
  status(): Promise<{ readonly changes: readonly GitChange[]; readonly more: boolean }>
  /** Contract: the differences of tracked files as a patch of limited size; `more`: the patch was cut. */
  diff(): Promise<{ readonly patch: string; readonly more: boolean }>
  /** Contract: up to `limit` commits, newest first. */
  log(limit: number): Promise<readonly GitCommit[]>
  /** Contract: commits everything that `status` reports; returns the id of the commit, or null if nothing changed. */
  commit(message: string): Promise<string | null>
}

/**
 * Groups of operations, by name. An env kind adds its own: `declare module 'tireless' { interface OpsGroups { readonly
 * board: BoardOps } }`.
 */
export interface OpsGroups {
  readonly file: FileOps
  readonly process: ProcessOps
  readonly git: GitOps
}

export type OpsGroup = keyof OpsGroups

export type Health = { readonly ok: true } | { readonly ok: false; readonly reason: string }

/**
 * How an env uses the workspace. `read_only`: commands see it on a read-only mount, and writes are refused. `copy`:
 * files and commands use a throw-away copy.
 */
export type WorkspaceAccess = 'write' | 'read_only' | 'copy'

export interface Env {
  /** Name of its kind, if the kind is a user's own. */
  readonly kind?: string
  /** The workspace as commands see it. The files of a copy are elsewhere: use the operations. */
  readonly root: string
  /** Default: `write`. */
  readonly access?: WorkspaceAccess
  /** For a copy: a digest of names and contents when it was made, without `.git` and `node_modules`. */
  readonly digest?: string
  readonly groups: readonly OpsGroup[]
  /** Contract: always returns the same object; undefined only if `groups` does not contain the group. */
  getOps<G extends OpsGroup>(group: G): OpsGroups[G] | undefined
  /** Contract: returns whether the env can be used now; changes nothing, never throws. */
  health(): Promise<Health>
  /**
   * Contract: asked after each step that would not end the run: whether the world of the env has come to its end, which
   * ends the run. The answer is recorded; a replay does not ask again.
   */
  isTerminal?(state: Json): boolean | RunEnding | Promise<boolean | RunEnding>
  /**
   * Contract: opens a throw-away copy of the workspace as it is now: of the original, also if this env is a copy.
   * Nothing done in the copy reaches the original. Throws `workspace_refused` if the workspace is too large.
   */
  openCopy?(): Promise<Env>
  /** Contract: releases what `open` acquired and leaves the workspace alone; idempotent, never throws. */
  close(): Promise<void>
}

export interface Envs {
  /**
   * Contract: creates the workspace folder and sets up an env in it. `kind` selects the implementation; by default it
   * depends on the folder. `access`: default `write`. If `open` throws, there is nothing to close.
   */
  open(workspace: string, kind?: string, access?: WorkspaceAccess): Promise<Env>
  /** Contract: the tools that a run in an env of that kind gets, besides those of its behaviour. Default: none. */
  toolsOf?(kind: string): readonly string[]
}

/** The groups of operations that envs of workspaces have. */
export const WORKSPACE_GROUPS: readonly OpsGroup[] = ['file', 'process', 'git']

/** What an env kind gets to open an env. */
export interface EnvOpening {
  /** The folder of the session. It exists, unless the kind is `isolated`. */
  readonly workspace: string
  /** What the run may do to the workspace. */
  readonly access: WorkspaceAccess
  /** Aborts when the time to open the env is over. */
  readonly signal: AbortSignal
}

/** An env as its kind opens it; the app adds the operations of the workspace. */
export interface OpenedEnv {
  /** The kind's own groups of operations, by name; objects with methods. A tool names them in `needs`. */
  readonly ops: Partial<OpsGroups>
  /** Contract: like `Env.health`. Default: healthy. */
  health?(): Health | Promise<Health>
  /** Contract: like `Env.isTerminal`. */
  isTerminal?: Env['isTerminal']
  /** Contract: releases what `open` acquired. Called once. */
  close?(): void | Promise<void>
}

/** A kind of env of a user's own; a task chooses it by name (`env: 'board'`). */
export interface EnvKind {
  /** Contract: letters, digits, `_` and `-`; not `host` or `repository`, which are built in. */
  readonly name: string
  /** Tools that a run in this env gets, besides those of its behaviour. */
  readonly tools?: readonly string[]
  /** True: a run in this env has no operations besides those of the kind. Default: those of its workspace too. */
  readonly isolated?: boolean
  /**
   * Contract: sets up the env of one run, within a minute. A run that was parked opens it again. If it throws, there is
   * nothing to close, and the run is refused. A replay opens no env.
   */
  open(opening: EnvOpening): OpenedEnv | Promise<OpenedEnv>
}

/** Implements the two members of an env that give access to its operations. */
export function provideOps(ops: Partial<OpsGroups>): Pick<Env, 'groups' | 'getOps'> {
  return { groups: Object.keys(ops) as OpsGroup[], getOps: (group) => ops[group] }
}

/** Contract: returns the operations of that group; throws `tool_failed` if the env lacks the group. */
export function requireOps<G extends OpsGroup>(env: Env, group: G): OpsGroups[G] {
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
