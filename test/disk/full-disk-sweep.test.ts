/** Every command that writes files of a home: 26 sizes of free space on two file systems, and a kill at each change. */

import { test } from 'node:test'
import { COMMANDS } from './commands.ts'
import { checkCases } from './run-cases.ts'
import { checkKills } from './run-kills.ts'
import { whyNoDisk } from './small-disk.ts'

for (const kind of ['tmpfs', 'ext4'] as const)
  test(
    `E11: with 0 to 256 KB left on ${kind}, each file is wholly old or wholly new, and the command says which`,
    {
      skip: whyNoDisk(kind),
    },
    (t) => checkCases(t, kind, 'all'),
  )

const inHome = COMMANDS.filter(({ disk }) => disk === undefined).map(({ title }) => title)

test('E11: a kill at any change of a file leaves each file wholly old or wholly new, and the home works', (t) =>
  checkKills(t, inHome, 1))
