# Summary.pm -- prove's harness that shows the output of failed tests and why others were skipped,
# and ends with the line "N passed, M failed, K skipped".
#
# A program that dies, or runs fewer tests than it planned, counts as one failure even where
# every test it reported passed.
package Summary;
use strict;
use warnings;
use parent 'TAP::Harness';

my $lines_shown_max = 120;

sub new {
	my $self = shift->SUPER::new(@_);
	my %output;

	$self->{skips} = [];
	$self->{failures} = [];
	$self->callback(made_parser => sub {
		my ($parser, $job) = @_;
		$parser->callback(ALL => sub { push @{ $output{ $job->[0] } }, shift->raw });
		$parser->callback(test => sub {
			my ($test) = @_;
			return unless $test->has_skip;
			push @{ $self->{skips} }, $job->[0] . ': ' . $test->explanation;
		});
	});
	$self->callback(after_test => sub {
		my ($job, $parser) = @_;
		my $lines = delete $output{ $job->[0] } // [];
		push @{ $self->{failures} }, [ $job->[0], $lines ] if $parser->has_problems;
	});
	return $self;
}

sub show_failure {
	my ($name, $lines) = @{ $_[0] };
	my $hidden = @$lines - $lines_shown_max;

	print "\n== $name\n";
	print "($hidden lines before)\n" if $hidden > 0;
	print "$_\n" for @$lines[ ($hidden > 0 ? $hidden : 0) .. $#$lines ];
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
	show_failure($_) for @{ $self->{failures} };
	print "skipped: $_\n" for sort @{ $self->{skips} };
	print "$passed passed, $failed failed", $skipped ? ", $skipped skipped" : '', "\n";
}

1;
