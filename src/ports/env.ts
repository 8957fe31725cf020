/** Env: the hands' reach. Tools ask for ops groups; the env of a session supplies them, rooted in its workspace. */

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
 * cap are refused with `path_refused`, checked on the opened handle.
 */
export interface FileOps {
  /** Contract: undefined where there is no such file. */
  read(path: string): Promise<FileContent | undefined>
  /**
   * Contract: whole and atomic (temporary file, fsync, rename); makes missing folders. `expected` is the digest the file must still have
   * (null: it must not exist); otherwise `conflict`.
   */
  write(path: string, text: string, expected: string | null): Promise<{ readonly sha: string }>
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
}

/** Contract for every method: `call` names the process tree, across restarts of this program. */
export interface ProcessOps {
  /**
   * Contract: runs the command in the root, output kept in a file of the home while it runs; when it returns, for whatever reason
   * (exit, timeout, abort), no process of its tree is left.
   */
  run(
    call: string,
    command: string,
    options: { readonly timeoutMs: number; readonly signal: AbortSignal },
  ): Promise<ProcessResult>
  /** Contract: kills what is left of that call's tree from an earlier life of this program, then tells the output so far. */
  reap(call: string): Promise<{ readonly output: string; readonly killed: boolean }>
  /** Contract: forgets the files kept for that call. Never throws. */
  forget(call: string): Promise<void>
}

export interface Env {
  readonly root: string
  readonly file: FileOps
  readonly process: ProcessOps
}

export interface Envs {
  /** Contract: the folder exists afterwards. */
  open(workspace: string): Promise<Env>
}
