/**
 * Builds the /etc of the sandbox: files that programs need, and nothing that identifies the owner's machine. Small
 * files are copied into one folder, once per process, because a mount for each would cost more than the rest of the
 * sandbox. Large folders are mounted, because a copy would cost more.
 */

import {
  copyFileSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join, relative } from 'node:path'
import type { BindMount } from './bubblewrap-command-line.ts'

const COPIED = new RegExp(
  `^(${[
    ...['ld\\.so\\.cache', 'ld\\.so\\.conf', 'ld-musl-.*', 'nsswitch\\.conf', 'protocols', 'services', 'mime\\.types'],
    ...[
      'os-release',
      'debian_version',
      '(alpine|lsb|redhat|fedora|arch)-release',
      'locale\\.(alias|conf)',
      'localtime',
      'timezone',
    ],
    ...['bash\\.bashrc', 'inputrc', 'magic(\\.mime)?', 'manpath\\.config', 'ca-certificates\\.conf'],
  ].join('|')})$`,
)
/** Folders to mount. Those with certificates contain only public ones; private keys are in other folders. */
const MOUNTED = /^(alternatives|ssl\/certs|pki\/(tls\/certs|ca-trust)|ca-certificates|fonts|java-.*)$/

export interface SandboxUser {
  readonly uid: number
  readonly gid: number
}

/** Path inside the sandbox of the script that bash runs first. */
export const BASH_ENV_PATH = '/etc/tireless-bash'

/** Contract: recreates `folder`; returns the mounts to add inside the sandbox's /etc. */
export function makeEtc(
  folder: string,
  { uid, gid }: SandboxUser,
  home: string,
  /** Additional files: keys are paths inside the sandbox, values are the files' texts. */
  additional: Readonly<Record<string, string>>,
): readonly BindMount[] {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(join(folder, 'git-template'), { recursive: true, mode: 0o755 })
  const names = namesIn('/etc')
  for (const name of names.filter((known) => COPIED.test(known))) copy(name, folder)
  const written: Readonly<Record<string, string>> = {
    passwd: accounts(
      [
        ['root', 0, 0],
        ['agent', uid, gid],
        ['nobody', 65_534, 65_534],
      ],
      (name, id, group) => `${name}:x:${id}:${group}:${name}:${home}:/bin/bash`,
    ),
    group: accounts(
      [
        ['root', 0, 0],
        ['agent', gid, gid],
        ['nogroup', 65_534, 65_534],
      ],
      (name, id) => `${name}:x:${id}:`,
    ),
    hosts: '127.0.0.1 localhost\n::1 localhost\n',
    hostname: 'sandbox\n',
    gitconfig: GITCONFIG,
    ...Object.fromEntries(Object.entries(additional).map(([path, text]) => [relative('/etc', path), text])),
  }
  for (const [name, text] of Object.entries(written)) writeFileSync(join(folder, name), text)
  const below = ['ssl', 'pki', 'pki/tls'].flatMap((name) =>
    namesIn(join('/etc', name)).map((inner) => join(name, inner)),
  )
  const mounted = [...names, ...below].filter(
    (name) => MOUNTED.test(name) && lstatSync(join('/etc', name)).isDirectory(),
  )
  for (const name of mounted) mkdirSync(join(folder, name), { recursive: true })
  return mounted.map((name) => ({ from: join('/etc', name), at: join('/etc', name), writable: false }))
}

/** The file /etc/gitconfig: a default author; repositories of any owner are accepted; new ones get no hooks. */
const GITCONFIG = `[user]
	name = Tireless
	email = tireless@localhost
[safe]
	directory = *
[init]
	templateDir = /etc/git-template
	defaultBranch = main
[advice]
	defaultBranchName = false
`

type Account = readonly [name: string, id: number, group: number]

/** The lines of /etc/passwd or /etc/group. Of accounts with the same id only the first is kept, so root stays root. */
function accounts(all: readonly Account[], line: (...account: Account) => string): string {
  const known = all.filter(([, id], at) => all.findIndex(([, other]) => other === id) === at)
  return known.map((account) => `${line(...account)}\n`).join('')
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** Copies a file of /etc. A symbolic link into /usr stays a link; other links are resolved. Skips unreadable files. */
function copy(name: string, folder: string): void {
  const from = join('/etc', name)
  const to = join(folder, name)
  try {
    const target = lstatSync(from).isSymbolicLink() ? readlinkSync(from) : ''
    if (/^(\.\.)?\/usr\//.test(target)) symlinkSync(target, to)
    else copyFileSync(from, to)
  } catch {}
}
