/**
 * The /etc that a command sees: what programs need to start, and nothing that says anything about the owner's machine. Small files are
 * copied into one folder, once per process, because a bind for each would cost more than the rest of the sandbox; large folders are
 * bound, because to copy them would.
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
import type { Bind } from './layout.ts'

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
/** Certificates are public; private keys lie elsewhere. */
const BOUND = /^(alternatives|ssl\/certs|pki\/(tls\/certs|ca-trust)|ca-certificates|fonts|java-.*)$/

export interface Identity {
  readonly uid: number
  readonly gid: number
}

/** Where bash finds what it does first, seen from inside. */
export const BASH_ENV = '/etc/tireless-bash'

/** Contract: makes the folder anew; what is to be bound into it, seen from inside. */
export function makeEtc(
  folder: string,
  { uid, gid }: Identity,
  home: string,
  /** By their paths, seen from inside. */
  more: Readonly<Record<string, string>>,
): readonly Bind[] {
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
    ...Object.fromEntries(Object.entries(more).map(([path, text]) => [relative('/etc', path), text])),
  }
  for (const [name, text] of Object.entries(written)) writeFileSync(join(folder, name), text)
  const below = ['ssl', 'pki', 'pki/tls'].flatMap((name) =>
    namesIn(join('/etc', name)).map((inner) => join(name, inner)),
  )
  const bound = [...names, ...below].filter((name) => BOUND.test(name) && lstatSync(join('/etc', name)).isDirectory())
  for (const name of bound) mkdirSync(join(folder, name), { recursive: true })
  return bound.map((name) => ({ from: join('/etc', name), at: join('/etc', name), writable: false }))
}

/** Who commits, where nobody says so; a repository that is nobody's in here is still the agent's; and no hooks to begin with. */
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

/** The first of a number counts: whoever is root stays root. */
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

/** A link into the system stays one; of any other, what it leads to. What may not be read, or is none, is left out. */
function copy(name: string, folder: string): void {
  const from = join('/etc', name)
  const to = join(folder, name)
  try {
    const target = lstatSync(from).isSymbolicLink() ? readlinkSync(from) : ''
    if (/^(\.\.)?\/usr\//.test(target)) symlinkSync(target, to)
    else copyFileSync(from, to)
  } catch {}
}
