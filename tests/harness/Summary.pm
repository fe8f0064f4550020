# Summary.pm -- prove's harness with a last line that says "N passed, M failed, K skipped".
#
# A program that dies, or runs fewer tests than it planned, counts as one failure even where
# every test it reported passed.
package Summary;
use strict;
use warnings;
use parent 'TAP::Harness';

my @skips;

sub new {
	my $self = shift->SUPER::new(@_);
	$self->callback(made_parser => sub {
		my ($parser, $job) = @_;
		$parser->callback(test => sub {
			my ($test) = @_;
			push @skips, $job->description . ': ' . $test->explanation if $test->has_skip;
		});
	});
	return $self;
}

sub summary {
	my ($self, $aggregate) = @_;
	my $skipped = $aggregate->skipped;
	my $passed = $aggregate->passed - $skipped;
	my $failed = $aggregate->failed;

	for my $parser ($aggregate->parsers) {
		$failed++ if $parser->has_problems && !$parser->failed;
	}
	$self->SUPER::summary($aggregate);
	print "skipped: $_\n" for sort @skips;
	print "$passed passed, $failed failed", $skipped ? ", $skipped skipped" : '', "\n";
}

1;
