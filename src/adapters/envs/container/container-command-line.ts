/** Builds the `docker run` or `podman run` arguments: read-only root, no capabilities, no network. Pure. */

import { TirelessError } from '../../../domain/error.ts'
import type { BindMount } from '../sandbox/bubblewrap-command-line.ts'
import { MAX_PROCESSES, maxMemoryBytes } from '../sandbox/launch-bubblewrap.ts'
import type { ContainerEngine } from './find-container-engine.ts'

interface ContainerRunOptions {
  readonly engine: ContainerEngine['name']
  readonly image: string
  readonly name: string
  readonly label: string
  /** Path of a seccomp profile; undefined: the engine's default. */
  readonly filter: string | undefined
  readonly cwd: string
  readonly binds: readonly BindMount[]
  readonly environment: Readonly<Record<string, string>>
  readonly command: string
  /** True if the command reads its standard input. */
  readonly input: boolean
}

export function containerRunArgs({
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
}: ContainerRunOptions): readonly string[] {
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0]
  return [
    ...['run', '--rm', '--name', name, '--label', label, '--pull', 'never', '--log-driver', 'none'],
    ...['--network', 'none', '--hostname', 'sandbox', '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges'],
    ...(filter === undefined ? [] : ['--security-opt', `seccomp=${filter}`]),
    ...(input ? ['--interactive'] : []),
    ...['--read-only', ...(engine === 'podman' ? ['--read-only-tmpfs=false'] : [])],
    ...['--tmpfs', '/tmp:rw,exec,nosuid,nodev,size=1g,mode=1777'],
    ...['--pids-limit', String(MAX_PROCESSES), '--memory', String(maxMemoryBytes())],
    ...['--user', `${uid}:${gid}`, '--workdir', cwd],
    // Rootless Podman maps user ids by default, and files in the workspace would belong to another user.
    ...(engine === 'podman' && uid !== 0 ? ['--userns', 'keep-id'] : []),
    ...Object.entries(environment).flatMap(([key, value]) => ['--env', `${key}=${value}`]),
    ...binds.flatMap(mountArgs),
    ...['--entrypoint', 'bash', image, '-c', '--', command],
  ]
}

/** False if the path contains a character that Docker and Podman escape differently in the value of `--mount`. */
export const isMountable = (path: string): boolean => !/[,"\n]/.test(path)

function mountArgs({ from, at, writable }: BindMount): readonly string[] {
  if (![from, at].every(isMountable))
    throw new TirelessError('tool_failed', {
      what: 'a path with a comma, a quote or a line break cannot be mounted into a container',
      where: from,
      fix: 'rename it, or remove sandbox_image',
    })
  return ['--mount', `type=bind,source=${from},target=${at}${writable ? '' : ',readonly'}`]
}
