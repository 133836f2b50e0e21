"""Why a query is refused, in words. A query is public: its words may be shown, and those of the engine may not."""

from __future__ import annotations

from typing import Final

from lastbit.errors import ParameterError

_ONE_ROW: Final = "A query sees one row at a time, so that one person moves only what is theirs"
_ONE_PERSON: Final = "A column of --let is made of the rows of one person, so that nobody moves what is another's"
_LET: Final = "A column of all rows of one person is made with --let, as in --let 'visits = count(*)'"

REASONS: Final = {
    "SUBQUERY": "a query inside a query looks at other rows",
    "WINDOW": "a window looks at other rows, as only --let may, at those of one person",
    "LAMBDA": "a function of its own is not read here",
    "PARAMETER": "a parameter has no value here",
    "COLLATE": "a collation takes two texts for one",
    "STAR": "a star stands alone, as in select *",
    "JOIN": "a join looks at other rows",
    "TABLE_FUNCTION": "a function in place of the table reads other data",
    "EXPRESSION_LIST": "a list of values is not the table",
    "EMPTY": "it must say from which table",
    "SET_OPERATION_NODE": "two queries in one look at rows twice",
    "ORDER_MODIFIER": "an order looks at other rows",
    "LIMIT_MODIFIER": "a limit depends on other rows",
    "LIMIT_PERCENT_MODIFIER": "a limit depends on other rows",
    "DISTINCT_MODIFIER": "whether a row is distinct depends on other rows",
}

_AGGREGATES: Final = (
    "count count_star sum avg mean min max median mode first last any_value arg_min arg_max min_by max_by list "
    "array_agg string_agg group_concat listagg stddev stddev_pop stddev_samp variance var_pop var_samp "
    "quantile quantile_cont quantile_disc approx_count_distinct approx_quantile bool_and bool_or bit_and bit_or "
    "bit_xor product sumkahan fsum corr covar_pop covar_samp entropy kurtosis skewness histogram row_number rank "
    "dense_rank ntile lag lead"
)
_CHANGING: Final = (
    "random setseed now today current_date current_time current_timestamp get_current_timestamp get_current_time "
    "current_localtime current_localtimestamp transaction_timestamp uuid gen_random_uuid nextval currval txid_current "
    "current_user current_schema current_database current_query current_setting version getenv getvariable"
)


def refusal(reason: str, option: str, rule: str = "") -> ParameterError:
    """Return the error that says why a query is refused, and the rule that it breaks or what to write."""
    rule = rule or (_ONE_PERSON if option.startswith("--let") else _ONE_ROW)
    return ParameterError(f"{option} is refused: {reason}. {rule}. Nothing was read.")


def function_refusal(name: str, option: str, known: list[str]) -> ParameterError:
    """Return the error for a function that is not on the list."""
    if name in _AGGREGATES.split():
        return refusal(f"{name} looks at all rows", option, f"{_ONE_ROW}. {_LET}")
    if name in _CHANGING.split():
        return refusal(f"{name} depends on more than the row", option)
    if name == "unnest":
        return refusal("unnest makes many rows of one", option)
    names = ", ".join(name for name in known if name[0].isalpha() and name.islower() and " " not in name)
    return refusal(f"there is no function {name} here", option, f"The functions are {names}")
