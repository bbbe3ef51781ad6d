// What a Java program does that knows nothing of the gateway: prints what it sees, one fact a line.
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.Date;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

public class Client {
    public static void main(String[] arguments) throws SQLException {
        try (Connection connection = DriverManager.getConnection(arguments[0], arguments[1], arguments[2])) {
            metadata(connection.getMetaData());
            prepared(connection);
            portals(connection);
            refusals(connection);
            several(connection);
        }
    }

    private static void say(String what, Object value) {
        System.out.println(what + ": " + value);
    }

    private static List<String> column(ResultSet rows, String name) throws SQLException {
        List<String> found = new ArrayList<>();
        while (rows.next()) {
            found.add(rows.getString(name));
        }
        return found;
    }

    private static void metadata(DatabaseMetaData data) throws SQLException {
        say("tables", column(data.getTables(null, "public", "%", new String[] {"TABLE"}), "TABLE_NAME"));
        say("views", column(data.getTables(null, "safe", "%", new String[] {"VIEW"}), "TABLE_NAME"));
        say("columns", column(data.getColumns(null, "public", "patients", "%"), "COLUMN_NAME"));
        say("key", column(data.getPrimaryKeys(null, "public", "patients"), "COLUMN_NAME"));
        say("schemas", column(data.getSchemas(), "TABLE_SCHEM"));
        say("indexes", column(data.getIndexInfo(null, "public", "wards", false, false), "INDEX_NAME"));
        say("functions", column(data.getFunctions(null, "public", "kanon_query"), "FUNCTION_NAME"));
        say("catalogs", column(data.getCatalogs(), "TABLE_CAT"));
        say("imported", column(data.getImportedKeys(null, "public", "patients"), "PKTABLE_NAME"));
        say("types", column(data.getTypeInfo(), "TYPE_NAME").contains("numeric"));
    }

    private static void prepared(Connection connection) throws SQLException {
        String query = "select ward, count(*) as n, avg(cost) as mean from patients"
            + " where sex = ? and birth_date > ? and cost >= ? group by ward order by ward";
        try (PreparedStatement statement = connection.prepareStatement(query)) {
            // after some repetitions the driver names the statement, and takes binary values
            for (int turn = 0; turn < 8; turn++) {
                statement.setString(1, turn % 2 == 0 ? "F" : "M");
                statement.setDate(2, Date.valueOf("1900-01-01"));
                statement.setInt(3, 0);
                try (ResultSet rows = statement.executeQuery()) {
                    List<String> wards = column(rows, "ward");
                    say("turn " + turn, wards);
                }
            }
            say("type", statement.getMetaData().getColumnTypeName(3));
        }
    }

    private static void portals(Connection connection) throws SQLException {
        connection.setAutoCommit(false);
        try (Statement statement = connection.createStatement()) {
            statement.setFetchSize(2);
            String query = "select number from safe.numbers";
            int rows = 0;
            try (ResultSet found = statement.executeQuery(query)) {
                while (found.next()) {
                    rows++;
                }
            }
            say("fetched in portions", rows > 2);
            try (ResultSet found = statement.executeQuery("select ward, count(*) from patients group by ward")) {
                say("query in portions", column(found, "ward").size());
            }
        }
        connection.commit();
        connection.setAutoCommit(true);
    }

    private static void refusals(Connection connection) throws SQLException {
        connection.setAutoCommit(false);
        try (Statement statement = connection.createStatement()) {
            Savepoint before = connection.setSavepoint();
            try {
                statement.executeQuery("select name from patients");
            } catch (SQLException refused) {
                say("refused", refused.getSQLState());
            }
            connection.rollback(before);
            try (ResultSet found = statement.executeQuery("select count(*) as n from patients")) {
                say("afterwards", column(found, "n"));
            }
        }
        connection.commit();
        connection.setAutoCommit(true);
    }

    private static void several(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            boolean has = statement.execute("select 1 as n; select count(*) as n from patients; show timezone");
            int results = 0;
            while (has || statement.getUpdateCount() != -1) {
                results++;
                has = statement.getMoreResults();
            }
            say("results", results);
        }
    }
}
