/** Part of `npm run check`: prints the longest function, parameter list and file. Tests enforce the limits. */

import { largest, measureFiles } from '../test/architecture/limits.ts'
import { parseTree } from '../test/architecture/parse.ts'
import { readCode } from '../test/architecture/read-tree.ts'

console.log(largest(measureFiles(parseTree(readCode()))).join('\n'))
