/**
 * The forwarder inside a sandbox: listens on its loopback and hands each connection on to the socket file, half-closed ends and all. It is there
 * before the command, so every command with a network waits for it: Perl starts in a few milliseconds, and Debian and its like are
 * never without; Node takes a dozen times as long, and is what we have where there is no Perl.
 */

import { isProgram } from '../host/launch.ts'
import type { Bind } from './layout.ts'

/** Seen from inside. */
export const INNER_SOCKET = '/run/proxy'
export const FORWARDER = '/etc/tireless-forward'
export const PORT = 3128
const INNER_NODE = '/run/node'

export interface Forwarder {
  readonly program: string
  /** Says so once it listens. */
  readonly text: string
  readonly binds: readonly Bind[]
}

/** Contract: `perl` is taken where it is a program. */
export function forwarderOf(perl: string): Forwarder {
  if (isProgram(perl)) return { program: perl, text: PERL_TEXT, binds: [] }
  return {
    program: INNER_NODE,
    text: NODE_TEXT,
    binds: [{ from: process.execPath, at: INNER_NODE, writable: false }],
  }
}

/** For bash, before the command: waits until the forwarder listens, and leaves it to nobody, so that no `wait` waits for it. */
export const forwarding = (program: string): string =>
  `if [ -S ${INNER_SOCKET} ]; then ( read -r _ < <(exec ${program} ${FORWARDER} < /dev/null 2> /dev/null) ); fi\n`

const NODE_TEXT = `const { connect, createServer } = require('node:net')
const server = createServer({ allowHalfOpen: true }, (near) => {
  const far = connect({ path: '${INNER_SOCKET}', allowHalfOpen: true })
  near.on('error', () => far.destroy())
  far.on('error', () => near.destroy())
  near.pipe(far)
  far.pipe(near)
})
server.listen(${PORT}, '127.0.0.1', () => console.log('listening'))
`

/**
 * Without a single module: to load those that name these numbers takes longer than all the rest. 2 and 1 are the families of
 * internet and file sockets, 1 is a stream; 0x40 sends what fits without waiting; 4 and 11 are EINTR and EAGAIN, as everywhere on Linux that Node runs on.
 * A way is one direction of a connection: from, to, what is read and not yet sent, and whether the connection is broken. It is
 * gone once its end has been handed on; a socket is closed when no way holds it any more.
 */
const PERL_TEXT = `$SIG{PIPE} = 'IGNORE';
my ($door, @ways);
socket($door, 2, 1, 0) && bind($door, pack('S n C4 x8', 2, ${PORT}, 127, 0, 0, 1)) && listen($door, 511) or exit 1;
syswrite STDOUT, "listening\\n";
close STDOUT;
for (;;) {
  my ($read, $write) = ('', '');
  vec($read, fileno $door, 1) = 1;
  for (@ways) {
    if (length $_->[2]) { vec($write, fileno $_->[1], 1) = 1 } else { vec($read, fileno $_->[0], 1) = 1 }
  }
  next if select($read, $write, undef, undef) < 1;
  my @open;
  for my $way (@ways) {
    my ($from, $to, undef, $broken) = @$way;
    if (length $way->[2]) {
      if (vec($write, fileno $to, 1)) {
        my $sent = send($to, $way->[2], 0x40);
        if (defined $sent) { substr($way->[2], 0, $sent, '') } else { $$broken ||= $! != 4 && $! != 11 }
      }
    } elsif (vec($read, fileno $from, 1)) {
      my $got = sysread($from, $way->[2], 65536);
      if (!defined $got) { $$broken ||= $! != 4 && $! != 11 } elsif ($got == 0) { shutdown($to, 1); next }
    }
    push @open, $way;
  }
  @ways = grep { !\${$_->[3]} } @open;
  next unless vec($read, fileno $door, 1);
  if (accept(my $near, $door)) {
    my ($far, $broken);
    if (socket($far, 1, 1, 0) && connect($far, pack('S a108', 1, '${INNER_SOCKET}'))) {
      push @ways, [$near, $far, '', \\$broken], [$far, $near, '', \\$broken];
    }
  } else {
    select(undef, undef, undef, 0.01);
  }
}
`
