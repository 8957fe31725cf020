/** Finds the container engine: a docker or podman command that is installed, responds, and has the image. */

import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { isExecutableFile } from '../host/launcher.ts'

export type EngineEnvironment = Readonly<Record<string, string | undefined>>

export interface ContainerEngine {
  readonly name: 'docker' | 'podman'
  readonly program: string
  readonly version: string
  /** Path of the engine's default seccomp profile, if that profile allows too much. */
  readonly defaultProfile: string | undefined
  /** Environment of the docker or podman command itself; the container does not get it. */
  readonly env: Readonly<Record<string, string>>
  /** Contract: runs a command of the engine and returns its output; rejects with its error. */
  run(...args: readonly string[]): Promise<string>
}

interface EngineProblem {
  readonly why: string
  readonly remedy: string
}

/** Environment variables that the docker or podman command gets: its own settings, and where to find programs. */
const PASSED_ON =
  /^(PATH|HOME|LANG|USER|XDG_[A-Z]+_(DIR|HOME)|DBUS_SESSION_BUS_ADDRESS|DOCKER_[A-Z_]+|CONTAINERS?_[A-Z_]+)$/
const TIMEOUT_MS = 30_000
const INFO_FORMAT = {
  docker: '{{.ServerVersion}} {{.SecurityOptions}}',
  podman: '{{.Version.Version}} {{.Host.Security.SECCOMPProfilePath}}',
} as const

/** Contract: the first engine (Docker, then Podman) that responds and has the image; never throws. */
export async function findContainerEngine(
  image: string,
  environment: EngineEnvironment,
): Promise<ContainerEngine | EngineProblem> {
  const env = passedOn(environment)
  const failures: EngineProblem[] = []
  for (const name of ['docker', 'podman'] as const) {
    const program = (env.PATH ?? '')
      .split(':')
      .map((folder) => join(folder, name))
      .find(isExecutableFile)
    if (program === undefined) continue
    const found = await engineAt(name, program, env, image)
    if (!('why' in found)) return found
    failures.push(found)
  }
  const none = { why: 'neither docker nor podman is installed', remedy: 'install one of them' }
  return failures.length === 0
    ? none
    : { why: failures.map(({ why }) => why).join('; '), remedy: failures.map(({ remedy }) => remedy).join(', or: ') }
}

async function engineAt(
  name: ContainerEngine['name'],
  program: string,
  env: ContainerEngine['env'],
  image: string,
): Promise<ContainerEngine | EngineProblem> {
  const ask = async (...args: readonly string[]): Promise<string> => {
    const { stdout } = await promisify(execFile)(program, args, { env, cwd: '/', timeout: TIMEOUT_MS })
    return stdout.trim()
  }
  try {
    const [version = '', more = ''] = (await ask('info', '--format', INFO_FORMAT[name])).split(/ (.*)/s)
    if (name === 'docker' && more.includes('name=rootless'))
      return { why: 'docker runs rootless, so its containers write files as another user', remedy: 'use podman' }
    const engine: ContainerEngine = {
      name,
      program,
      version,
      defaultProfile: name === 'podman' ? more : undefined,
      env,
      run: ask,
    }
    return await ask('image', 'inspect', '--format', '{{.Id}}', image).then(
      () => engine,
      () => ({ why: `${name} has no image ${image}`, remedy: `${name} pull ${image}` }),
    )
  } catch (thrown) {
    return { why: `${name} does not respond: ${lastErrorLine(thrown)}`, remedy: `run ${name} info` }
  }
}

/** The last line of a failed program's error output, or of the error message if there was no output. */
export function lastErrorLine(thrown: unknown): string {
  const { stderr = '', message = String(thrown) } = thrown as { stderr?: string; message?: string }
  return (stderr.trim() === '' ? message : stderr).trim().split('\n').at(-1) ?? ''
}

function passedOn(environment: EngineEnvironment): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && PASSED_ON.test(entry[0]),
    ),
  )
}
