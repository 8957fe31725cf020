/** A sandbox with one guard less is detected. */

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { arch, tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { createSandbox } from '../../src/adapters/envs/sandbox/sandbox.ts'
import { systemClock } from '../../src/adapters/system/clock.ts'
import { WITHOUT_SANDBOX } from '../support/sandbox-available.ts'
import { isRoot } from '../support/sandboxed-workspace.ts'

/** A bubblewrap that omits a guard: replaces arguments before it runs the real one. */
function weakened(
  t: TestContext,
  from: readonly string[],
  to: readonly string[],
): { readonly path: string; readonly folder: string } {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'tireless-weak-')))
  t.after(() => rmSync(base, { recursive: true, force: true }))
  const real = execFileSync('sh', ['-c', 'command -v bwrap'], { encoding: 'utf8' }).trim()
  const word = (args: readonly string[]) =>
    `$'\\x1f${args.map((arg) => `${arg.replaceAll('FOLDER', base)}\\x1f`).join('')}'`
  writeFileSync(
    join(base, 'bwrap'),
    `#!/bin/bash
[ "$1" = --version ] && exec ${real} --version
all=$(printf '\\x1f%s' "$@")$'\\x1f'
from=${word(from)} to=${word(to)}
changed=\${all/"$from"/"$to"}
[ "$changed" = "$all" ] && { echo "nothing to leave out"; exit 99; }
mapfile -t -d $'\\x1f' args < <(printf %s "\${changed:1}")
exec ${real} "\${args[@]}"
`,
  )
  chmodSync(join(base, 'bwrap'), 0o755)
  return { path: `${base}:${process.env.PATH}`, folder: base }
}

const identity = ['--uid', String(process.getuid?.()), '--gid', String(process.getgid?.())]

/** The argument that is omitted, its replacement, and the findings that the self-test must report. */
const WEAKENED: readonly (readonly [
  guard: string,
  from: readonly string[],
  to: readonly string[],
  got: RegExp,
  root?: true,
])[] = [
  ['its own processes', ['--unshare-pid'], [], /namespace|process/],
  ['its own network', ['--unshare-net'], [], /opened a connection/],
  ['its own interprocess communication', ['--unshare-ipc'], [], /namespace/],
  ['its own host name', ['--unshare-uts', '--hostname', 'sandbox'], [], /namespace/, true],
  ['its own users', ['--unshare-user', ...identity, '--disable-userns'], [], /namespace/, true],
  ['no capabilities', ['--cap-drop', 'ALL'], ['--cap-add', 'ALL'], /capabilities/, true],
  ['a session of its own', ['--new-session'], [], /session/],
  ['a clean environment', ['--clearenv'], [], /environment/],
  ['refused system calls', ['--seccomp', '4'], [], /no seccomp filter/],
  ['/usr read-only', ['--ro-bind', '/usr', '/usr'], ['--bind', '/usr', '/usr'], /\/usr writable/, true],
  ['/etc read-only', ['--ro-bind', 'FOLDER/etc', '/etc'], ['--bind', 'FOLDER/etc', '/etc'], /\/etc writable/],
  ['the root folder read-only', ['--remount-ro', '/'], [], /\/ writable/],
  ['/proc read-only', ['--remount-ro', '/proc'], [], /kernel setting/, true],
  ['nodes of its own', ['--dev-bind', 'FOLDER/dev/null', '/dev/null'], [], /\/dev node/, true],
  ['no home', ['--dir', '/run'], ['--dir', '/run', '--bind', 'FOLDER', 'FOLDER'], /token/],
  [
    'a /tmp of its own',
    ['--dir', '/run'],
    ['--dir', '/run', '--bind', tmpdir(), tmpdir()],
    /temporary files|wrote a file outside/,
  ],
]

describe('a weakened sandbox', {
  skip: WITHOUT_SANDBOX || (arch() !== 'x64' && arch() !== 'arm64' && 'no filter on this machine'),
}, () => {
  const selfTestWith = ({ path, folder }: { readonly path: string; readonly folder: string }) =>
    createSandbox({ folder, hidden: [], env: { ...process.env, PATH: path }, clock: systemClock }).trial()

  for (const [guard, from, to, got, needsRoot] of WEAKENED)
    test(`is detected: without ${guard}`, async (t) => {
      if (needsRoot && !isRoot) return t.skip('needs root: it guards nothing for other users')
      const trial = await selfTestWith(weakened(t, from, to))
      assert.ok(!trial.holds)
      assert.match(trial.why, got)
    })

  const mounts = (): readonly string[] => readFileSync('/proc/self/mountinfo', 'utf8').match(/ \/mnt .*/g) ?? []

  test('is detected: one that does nothing at all', async (t) => {
    const { path, folder } = weakened(t, ['--'], ['--'])
    writeFileSync(
      join(folder, 'bwrap'),
      [
        '#!/bin/bash\n[ "$1" = --version ] && echo bubblewrap 0.8.0 && exit\nwhile [ "$1" != -- ]; do shift;',
        'done; shift; exec "$@"\n',
      ].join(' '),
    )
    const before = mounts()
    const trial = await selfTestWith({ path, folder })
    assert.ok(!trial.holds)
    assert.match(trial.why, /token.*opened a connection/s)
    assert.deepEqual(mounts(), before, 'the self-test removes what it mounted')
  })

  test('is detected: one that cannot start', async (t) => {
    const { path, folder } = weakened(t, ['--'], ['--'])
    writeFileSync(
      join(folder, 'bwrap'),
      [
        '#!/bin/bash\n[ "$1" = --version ] && echo bubblewrap 0.8.0 &&',
        'exit\necho "bwrap: No permissions to create new namespace" >&2; exit 1\n',
      ].join(' '),
    )
    const trial = await selfTestWith({ path, folder })
    assert.ok(!trial.holds && /No permissions/.test(trial.why) && /user namespaces/.test(trial.remedy))
  })

  test('the real one is not reported as weakened', async (t) => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'tireless-strong-')))
    t.after(() => rmSync(folder, { recursive: true, force: true }))
    assert.deepEqual(Object.keys(await selfTestWith({ path: process.env.PATH ?? '', folder })), ['holds', 'what'])
  })
})
