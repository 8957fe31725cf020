/**
 * Throw-away copies and read-only mounts: whatever commands and git do there, the workspace stays as it is, byte for
 * byte.
 */

import assert from 'node:assert/strict'
import fs from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { systemClock } from '../../src/adapters/system/clock.ts'
import { WITHOUT_SANDBOX } from '../support/sandbox-available.ts'
import { contentsOf, git, makePlace, runIn } from './copy-places.ts'

/** Ways to change the workspace, its repository and what is beside it. `$ORIGINAL`: its path. */
const ATTACKS: Readonly<Record<string, string>> = {
  'writes and deletes files': 'echo changed > file; rm -rf sub; chmod 000 run.sh; mkdir new; echo x > new/x',
  'writes by the original path': 'echo changed > "$ORIGINAL/file"; touch "$ORIGINAL/new"; rm -rf "$ORIGINAL/sub"',
  'writes through links':
    'echo x > out; echo x > outdir/secret; echo x > winding; echo x > sub/absolute; echo x > hard',
  'replaces the folder by a link': 'cd ..; mv ws gone; ln -s /tmp ws',
  'climbs out': 'echo x > ../beside/secret; echo x > ../../x; ls ../linked && echo x > ../linked/file',
  'commits and rewrites branches': `git add -A; git -c user.name=x -c user.email=x commit -qam evil --allow-empty
    git branch -f side HEAD; git update-ref refs/heads/main HEAD; git tag evil; git gc -q --prune=now; git stash`,
  'points git elsewhere': `git config core.worktree "$ORIGINAL"; git checkout -f HEAD~0 -- .
    git config core.hooksPath /tmp
    git --git-dir="$ORIGINAL/.git" config evil.key 1; git --git-dir="$ORIGINAL/.git" update-ref refs/heads/evil HEAD`,
  'removes worktrees': 'git worktree remove --force ../linked; git worktree prune; git worktree add /tmp/x evil',
  'adds alternates': `echo "$ORIGINAL/.git/objects" >> .git/objects/info/alternates; echo x | git hash-object -w --stdin
    git repack -adlq`,
  'leaves a process behind': `(sleep 0.3; echo late > file; echo late > "$ORIGINAL/file") >/dev/null 2>&1 & disown
    setsid sh -c 'sleep 0.3; echo late > "$0/file"' "$ORIGINAL" >/dev/null 2>&1 &`,
  'keeps a descriptor open': 'exec 7>>file; exec 8<.; (sleep 0.2; echo late >&7; echo late > /proc/self/fd/8/file) &',
  'mounts and binds': 'mount --bind "$ORIGINAL" /tmp; mount -o remount,rw "$ORIGINAL"; unshare -rm true',
}

const SETTLED_MS = 500

for (const access of ['copy', 'read_only'] as const)
  describe(`a sandboxed workspace opened as ${access}`, { skip: WITHOUT_SANDBOX }, () => {
    for (const which of ['ws', 'linked'])
      test(`case 84: no command changes ${which === 'ws' ? 'a repository' : 'a worktree'} or others`, async (t) => {
        const { base, ws, beside, open } = makePlace(t, true)
        const root = join(base, which)
        const before = contentsOf(ws, join(base, 'linked'), beside)
        for (const [what, attack] of Object.entries(ATTACKS)) {
          const env = await open(root, access)
          await runIn(env, `ORIGINAL='${root}'; export ORIGINAL; ${attack}`, what)
          await systemClock.sleep(what.includes('behind') || what.includes('descriptor') ? SETTLED_MS : 0)
          assert.deepEqual(contentsOf(ws, join(base, 'linked'), beside), before, what)
          await env.close()
        }
        assert.deepEqual(fs.readdirSync(base).includes('copies') ? fs.readdirSync(join(base, 'copies')) : [], [])
      })
  })

describe('the attacks are real', { skip: WITHOUT_SANDBOX }, () => {
  test('case 84: with write access, the same commands change the workspace', async (t) => {
    const { ws, open } = makePlace(t, true)
    for (const what of ['writes and deletes files', 'commits and rewrites branches', 'writes by the original path']) {
      const before = contentsOf(ws)
      const env = await open(ws, 'write')
      await runIn(env, `ORIGINAL='${ws}'; ${ATTACKS[what]}`)
      assert.notDeepEqual(contentsOf(ws), before, what)
      git(ws, 'reset', '-q', '--hard')
    }
  })
})
