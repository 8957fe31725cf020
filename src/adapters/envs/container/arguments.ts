/** Builds the `docker run` or `podman run` arguments: read-only root, no capabilities, no network. Pure. */

import { TirelessError } from '../../../domain/error.ts'
import { MOST_PROCESSES, mostMemory } from '../sandbox/launcher.ts'
import type { Bind } from '../sandbox/layout.ts'
import type { Engine } from './engine.ts'

export interface Wanted {
  readonly engine: Engine['name']
  readonly image: string
  readonly name: string
  readonly label: string
  /** Path of a seccomp profile; undefined: the engine's default. */
  readonly filter: string | undefined
  readonly cwd: string
  readonly binds: readonly Bind[]
  readonly environment: Readonly<Record<string, string>>
  readonly command: string
  /** The command reads its standard input. */
  readonly input: boolean
}

export function runArgs({
  engine,
  image,
  name,
  label,
  filter,
  cwd,
  binds,
  environment,
  command,
  input,
}: Wanted): readonly string[] {
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0]
  return [
    ...['run', '--rm', '--name', name, '--label', label, '--pull', 'never', '--log-driver', 'none'],
    ...['--network', 'none', '--hostname', 'sandbox', '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges'],
    ...(filter === undefined ? [] : ['--security-opt', `seccomp=${filter}`]),
    ...(input ? ['--interactive'] : []),
    ...['--read-only', ...(engine === 'podman' ? ['--read-only-tmpfs=false'] : [])],
    ...['--tmpfs', '/tmp:rw,exec,nosuid,nodev,size=1g,mode=1777'],
    ...['--pids-limit', String(MOST_PROCESSES), '--memory', String(mostMemory())],
    ...['--user', `${uid}:${gid}`, '--workdir', cwd],
    // Rootless Podman maps user ids, unless it is told to keep them.
    ...(engine === 'podman' && uid !== 0 ? ['--userns', 'keep-id'] : []),
    ...Object.entries(environment).flatMap(([key, value]) => ['--env', `${key}=${value}`]),
    ...binds.flatMap(mountArgs),
    ...['--entrypoint', 'bash', image, '-c', '--', command],
  ]
}

/** `--mount` takes a comma-separated list, and engines differ in how they escape a comma in it. */
export const isMountable = (path: string): boolean => !/[,"\n]/.test(path)

function mountArgs({ from, at, writable }: Bind): readonly string[] {
  if (![from, at].every(isMountable))
    throw new TirelessError('tool_failed', {
      what: 'cannot mount it into a container: its path contains a comma, a quote or a line break',
      where: from,
      fix: 'rename it, or remove sandbox_image',
    })
  return ['--mount', `type=bind,source=${from},target=${at}${writable ? '' : ',readonly'}`]
}
