/** What a container is given, as arguments of the engine: a root that cannot be written to, no rights, no network, and the workspace. Pure. */

import { TirelessError } from '../../../domain/error.ts'
import { MOST_PROCESSES, mostMemory } from '../sandbox/launcher.ts'
import type { Bind } from '../sandbox/layout.ts'
import type { Engine } from './engine.ts'

export interface Wanted {
  readonly engine: Engine['name']
  readonly image: string
  readonly name: string
  readonly label: string
  /** A file with the system calls it may make; undefined: the engine's own. */
  readonly filter: string | undefined
  readonly cwd: string
  readonly binds: readonly Bind[]
  readonly environment: Readonly<Record<string, string>>
  readonly command: string
  /** It reads its standard input. */
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
    // Without root, Podman's containers have other users, unless it is told that ours is to be the same.
    ...(engine === 'podman' && uid !== 0 ? ['--userns', 'keep-id'] : []),
    ...Object.entries(environment).flatMap(([key, value]) => ['--env', `${key}=${value}`]),
    ...binds.flatMap(mounted),
    ...['--entrypoint', 'bash', image, '-c', '--', command],
  ]
}

/** Engines take a list with commas, and differ in how one is written inside. */
export const isMountable = (path: string): boolean => !/[,"\n]/.test(path)

function mounted({ from, at, writable }: Bind): readonly string[] {
  if (![from, at].every(isMountable))
    throw new TirelessError('tool_failed', {
      what: 'it cannot be mounted into a container: there is a comma, a quote or a line break in its path',
      where: from,
      fix: 'give it another name, or run without sandbox_image',
    })
  return ['--mount', `type=bind,source=${from},target=${at}${writable ? '' : ',readonly'}`]
}
